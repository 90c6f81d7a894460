extern "C" __global__ void box_filter(const float *X, const float *W, float *Y, int m, int n) {
    __shared__ float tile[TILE_Y + 2][TILE_X + 2];
    const int top = blockIdx.y * TILE_Y - 1, left = blockIdx.x * TILE_X - 1;
    for (int at = threadIdx.y * TILE_X + threadIdx.x; at < (TILE_Y + 2) * (TILE_X + 2); at += TILE_X * TILE_Y) {
        const int a = at / (TILE_X + 2), b = at % (TILE_X + 2);
        const int i = top + a, j = left + b;
        tile[a][b] = i >= 0 && i < m && j >= 0 && j < n ? X[i * n + j] : 0.0f;
    }
    __syncthreads();
    const int i = top + 1 + threadIdx.y, j = left + 1 + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) sum += tile[threadIdx.y + a][threadIdx.x + b] * W[a * 3 + b];
    }
    Y[i * n + j] = sum;
}
