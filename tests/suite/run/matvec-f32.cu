extern "C" __global__ void matvec(const float *A, const float *X, float *Y, int m, int n) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= m) return;
    const float4 *a = reinterpret_cast<const float4 *>(A + row * n), *x = reinterpret_cast<const float4 *>(X);
    float sum = 0;
    for (int k = threadIdx.x; k < n / 4; k += 32) {
        const float4 left = __ldg(a + k), right = __ldg(x + k);
        sum += left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
    }
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    if (threadIdx.x == 0) Y[row] = sum;
}
