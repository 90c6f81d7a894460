extern "C" __global__ void transpose_tile_f32(const float *X, float *Y, int n) {
    __shared__ float tile[32][32 + PAD];
    const int x = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8) tile[y][x] = X[(top + y) * n + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) Y[(left + y) * n + top + x] = tile[x][y];
}
