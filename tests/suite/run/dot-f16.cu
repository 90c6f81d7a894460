extern "C" __global__ void dot_f16(const __half *A, const __half *B, float *Y, int n) {
    __shared__ float sums[32];
    const __half2 *a = reinterpret_cast<const __half2 *>(A + blockIdx.x * n);
    const __half2 *b = reinterpret_cast<const __half2 *>(B + blockIdx.x * n);
    float sum = 0;
    for (int k = threadIdx.x; k < n / 2; k += BLOCK) {
        const float2 x = __half22float2(a[k]), y = __half22float2(b[k]);
        sum += x.x * y.x;
        sum += x.y * y.y;
    }
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < BLOCK / 32 ? sums[threadIdx.x] : 0;
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
        if (threadIdx.x == 0) Y[blockIdx.x] = sum;
    }
}
