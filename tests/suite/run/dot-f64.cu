__device__ double warp_sum(double value) {
    for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    return value;
}

extern "C" __global__ void dot_parts(const double *A, const double *B, double *partial, int n) {
    __shared__ double sums[BLOCK / 32];
    double sum = 0;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
        const int i = (blockIdx.x * 4 + step) * BLOCK + threadIdx.x;
        if (i < n) sum += A[i] * B[i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0;
        for (int warp = 0; warp < BLOCK / 32; ++warp) all += sums[warp];
        partial[blockIdx.x] = all;
    }
}

extern "C" __global__ void dot_rest(const double *partial, double *Y, int parts) {
    double sum = 0;
    for (int i = threadIdx.x; i < parts; i += 32) sum += partial[i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) *Y = sum;
}
