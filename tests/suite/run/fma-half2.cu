// Eight elements a thread through one load of 16 bytes each; a tail of single elements.
extern "C" __global__ void fma_half2(const __half *A, const __half *B, const __half *C, __half *D, int n) {
    const int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 8 <= n) {
        const uint4 a = *reinterpret_cast<const uint4 *>(A + first);
        const uint4 b = *reinterpret_cast<const uint4 *>(B + first);
        const uint4 c = *reinterpret_cast<const uint4 *>(C + first);
        uint4 d;
        const __half2 *pa = reinterpret_cast<const __half2 *>(&a), *pb = reinterpret_cast<const __half2 *>(&b);
        const __half2 *pc = reinterpret_cast<const __half2 *>(&c);
        __half2 *pd = reinterpret_cast<__half2 *>(&d);
#pragma unroll
        for (int i = 0; i < 4; ++i) pd[i] = __hfma2(pa[i], pb[i], pc[i]);
        *reinterpret_cast<uint4 *>(D + first) = d;
    } else {
        for (int i = first; i < n; ++i) D[i] = __hfma(A[i], B[i], C[i]);
    }
}
