#define TILE (16 * SQUARE)

extern __shared__ float tiles[];

extern "C" __global__ void __launch_bounds__(256) gemm(const A_T *A, const B_T *B, C_T *C, int m, int n, int p) {
    float *left = tiles, *right = tiles + TILE * TILE_K;
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    const int top = blockIdx.y * TILE, start = blockIdx.x * TILE;
    float sums[SQUARE][SQUARE] = {};
    for (int first = 0; first < p; first += TILE_K) {
        for (int at = t; at < TILE * TILE_K; at += 256) {
            const int row = at / TILE_K, column = at % TILE_K;
            // The left tile is kept transposed.
            left[column * TILE + row] = top + row < m && first + column < p ? A[(top + row) * p + first + column] : 0;
            const int k = at / TILE, j = at % TILE;
            right[at] = first + k < p && start + j < n ? B[(first + k) * n + start + j] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE_K; ++k) {
            float a[SQUARE], b[SQUARE];
#pragma unroll
            for (int s = 0; s < SQUARE; ++s) {
                a[s] = left[k * TILE + y * SQUARE + s];
                b[s] = right[k * TILE + x * SQUARE + s];
            }
#pragma unroll
            for (int r = 0; r < SQUARE; ++r) {
#pragma unroll
                for (int s = 0; s < SQUARE; ++s) sums[r][s] += a[r] * b[s];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < SQUARE; ++r) {
        for (int s = 0; s < SQUARE; ++s) {
            const int i = top + y * SQUARE + r, j = start + x * SQUARE + s;
            if (i < m && j < n) C[i * n + j] = sums[r][s];
        }
    }
}
