extern "C" __global__ void gemm(const A_T *A, const B_T *B, C_T *C, int m, int n, int p) {
    const int j = blockIdx.x * BLOCK + threadIdx.x, i = blockIdx.y * BLOCK + threadIdx.y;
    if (i >= m || j >= n) return;
    const int *a = reinterpret_cast<const int *>(A + i * p), *b = reinterpret_cast<const int *>(B + j * p);
    int sum = 0;
    for (int k = 0; k < p / 4; ++k) sum = __dp4a(a[k], b[k], sum);
    C[i * n + j] = sum;
}
