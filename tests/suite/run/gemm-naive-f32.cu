extern "C" __global__ void gemm(const A_T *A, const B_T *B, C_T *C, int m, int n, int p) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    ACCUMULATOR sum = 0;
    for (int k = 0; k < p; ++k) sum += A[i * p + k] * B[k * n + j];
    C[i * n + j] = sum;
}
