extern "C" __global__ void gemm(const A_T *A, const B_T *B, C_T *C, int m, int n, int p) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    float sum = 0;
    for (int first = 0; first < p; first += TILE) {
        left[y][x] = i < m && first + x < p ? A[i * p + first + x] : 0.0f;
        right[y][x] = first + y < p && j < n ? B[(first + y) * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (i < m && j < n) C[i * n + j] = sum;
}
