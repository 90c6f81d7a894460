__device__ float over_block(float sum) {
    __shared__ float warps[BLOCK / 32];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float all = 0;
    for (int warp = 0; warp < BLOCK / 32; ++warp) all += warps[warp];
    return all;
}

extern "C" __global__ void layer_norm(const float *X, const float *GAIN, const float *BIAS, float *Y, int n) {
    const float *x = X + blockIdx.x * n;
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += BLOCK) sum += x[k];
    const float mean = over_block(sum) / n;
    float squares = 0;
    for (int k = threadIdx.x; k < n; k += BLOCK) squares += (x[k] - mean) * (x[k] - mean);
    const float deviation = sqrtf(over_block(squares) / n + 0.00001f);
    for (int k = threadIdx.x; k < n; k += BLOCK) {
        Y[blockIdx.x * n + k] = (x[k] - mean) / deviation * GAIN[k] + BIAS[k];
    }
}
