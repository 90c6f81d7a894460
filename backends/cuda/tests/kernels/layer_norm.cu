// Each row of n elements minus its mean, over its deviation, scaled and shifted: one block of 256 threads a row.
__device__ float block_sum(float value) {
    __shared__ float partial[32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    for (int step = 16; step > 0; step >>= 1) {
        value += __shfl_xor_sync(0xffffffffu, value, step);
    }
    __syncthreads();
    if (lane == 0) {
        partial[warp] = value;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < blockDim.x / 32; ++i) {
        sum += partial[i];
    }
    return sum;
}

extern "C" __global__ __launch_bounds__(256) void layer_norm(
    const float *X, const float *GAMMA, const float *BETA, float *Y, int n, float epsilon) {
    const float *x = X + (size_t)blockIdx.x * n;
    float *y = Y + (size_t)blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[i];
    }
    const float mean = block_sum(sum) / n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float d = x[i] - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(block_sum(squares) / n + epsilon);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        y[i] = (x[i] - mean) * scale * GAMMA[i] + BETA[i];
    }
}
