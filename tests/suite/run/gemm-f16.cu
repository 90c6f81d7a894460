extern "C" __global__ void gemm(const A_T *A, const B_T *B, C_T *C, int m, int n, int p) {
    __shared__ ELEMENT left[TILE][TILE + 2], right[TILE][TILE + 2];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    ACCUMULATOR sum = 0;
    for (int first = 0; first < p; first += TILE) {
        left[y][x] = i < m && first + x < p ? A[i * p + first + x] : __float2half(0.0f);
        right[y][x] = first + y < p && j < n ? B[(first + y) * n + j] : __float2half(0.0f);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += __half2float(left[y][k]) * __half2float(right[k][x]);
        __syncthreads();
    }
    if (i < m && j < n) C[i * n + j] = __float2half(sum);
}
