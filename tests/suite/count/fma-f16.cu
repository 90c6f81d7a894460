#include <cuda_fp16.h>
extern "C" __global__ void fma_f16(const __half2 *X, __half2 *Y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    __half2 a = X[i];
    const __half2 factor = __float2half2_rn(0.5f), term = __float2half2_rn(0.25f);
    for (int round = 0; round < 40; ++round) a = __hfma2(a, factor, term);
    Y[i] = a;
}
