extern "C" __global__ void rms_norm(const X_T *X, const GAIN_T *GAIN, Y_T *Y, int n) {
    __shared__ float inverse, warps[BLOCK / 32];
    const __half *x = X + blockIdx.x * n;
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += BLOCK) {
        const float value = __half2float(x[k]);
        sum = fmaf(value, value, sum);
    }
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int warp = 0; warp < BLOCK / 32; ++warp) all += warps[warp];
        inverse = rsqrtf(all / n + 0.00001f);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += BLOCK) {
        Y[blockIdx.x * n + k] = __float2half(__half2float(x[k]) * inverse * __half2float(GAIN[k]));
    }
}
