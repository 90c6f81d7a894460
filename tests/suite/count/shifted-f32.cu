extern "C" __global__ void shifted_f32(const float *X, float *Y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Y[i] = X[i + 1];
}
