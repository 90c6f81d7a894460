extern "C" __global__ void blend_bf16(const ELEMENT *A, const ELEMENT *B, const ELEMENT *C, ELEMENT *Y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const ACCUMULATOR product = __bfloat162float(A[i]) * __bfloat162float(B[i]);
        Y[i] = __float2bfloat16(fmaxf(product, 0.0f) + __bfloat162float(C[i]));
    }
}
