#include <cuda_fp16.h>

template <int WIDTH>
__device__ __forceinline__ void load_tile(ELEMENT* __restrict__ tile, const ELEMENT* __restrict__ from, int stride) {
#pragma unroll
    for (int i = threadIdx.x; i < WIDTH; i += BLOCK_X) {
        tile[i] = from[i * stride];
    }
}

extern "C" __global__ __launch_bounds__(BLOCK_X * BLOCK_Y)
void matmul(const A_T* __restrict__ A, const B_T* __restrict__ B, C_T* __restrict__ C, int n) {
    __shared__ ELEMENT tile_a[BLOCK_Y][TILE_K_SIZE];
    __shared__ alignas(16) ELEMENT tile_b[TILE_K_SIZE][BLOCK_X];
    const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    ACCUMULATOR sum = 0;
    float4 four = *reinterpret_cast<const float4*>(&A[row * n]);
    for (int k0 = 0; k0 < n; k0 += TILE_K_SIZE) {
        for (int k = threadIdx.x; k < TILE_K_SIZE; k += BLOCK_X) tile_a[threadIdx.y][k] = A[row * n + k0 + k];
        for (int k = threadIdx.y; k < TILE_K_SIZE; k += BLOCK_Y) tile_b[k][threadIdx.x] = B[(k0 + k) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE_K_SIZE; ++k) {
            sum = fmaf(tile_a[threadIdx.y][k], tile_b[k][threadIdx.x], sum);
        }
        __syncthreads();
    }
    asm volatile("bar.sync 0;" ::: "memory");
    C[row * n + column] = static_cast<C_T>(sum + four.x);
}
