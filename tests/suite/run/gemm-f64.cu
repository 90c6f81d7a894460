extern "C" __global__ void gemm(const double *A, const double *B, double *C, int m, int n, int p) {
    __shared__ double left[TILE][TILE], right[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    double sum = 0;
    for (int first = 0; first < p; first += TILE) {
        left[y][x] = i < m && first + x < p ? A[i * p + first + x] : 0.0;
        right[y][x] = first + y < p && j < n ? B[(first + y) * n + j] : 0.0;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum = fma(left[y][k], right[k][x], sum);
        __syncthreads();
    }
    if (i < m && j < n) C[i * n + j] = sum;
}
