extern "C" __global__ void banks_f32(const float *X, float *Y, int n) {
    __shared__ float words[32 * STRIDE];
    const int lane = threadIdx.x;
    words[lane * STRIDE] = X[blockIdx.x * 32 + lane];
    __syncthreads();
    Y[blockIdx.x * 32 + lane] = words[(31 - lane) * STRIDE];
}
