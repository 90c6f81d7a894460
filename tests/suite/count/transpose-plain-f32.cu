extern "C" __global__ void transpose_plain_f32(const float *X, float *Y, int n) {
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    Y[j * n + i] = X[i * n + j];
}
