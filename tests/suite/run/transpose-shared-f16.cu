extern "C" __global__ void transposed(const X_T *X, Y_T *Y, int m, int n) {
    __shared__ ELEMENT tile[TILE][TILE + 2];
    const int x = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + y < m && left + x < n) tile[y][x] = X[(top + y) * n + left + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (left + y < n && top + x < m) Y[(left + y) * m + top + x] = tile[x][y];
    }
}
