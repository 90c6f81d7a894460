extern "C" __global__ void gemm(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int m, int n, int p) {
    const int j = blockIdx.x * BLOCK + threadIdx.x, i = blockIdx.y * BLOCK + threadIdx.y;
    if (i >= m || j >= n) return;
    const __nv_bfloat162 *a = reinterpret_cast<const __nv_bfloat162 *>(A + i * p);
    const __nv_bfloat162 *b = reinterpret_cast<const __nv_bfloat162 *>(B + j * p);
    float sum = 0;
    for (int k = 0; k < p / 2; ++k) {
        const float2 x = __bfloat1622float2(a[k]), y = __bfloat1622float2(b[k]);
        sum = fmaf(x.y, y.y, fmaf(x.x, y.x, sum));
    }
    C[i * n + j] = sum;
}
