extern "C" __global__ void product_tile_f32(const float *A, const float *B, float *C, int n) {
    __shared__ float left[16][16], right[16][16];
    const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
        left[y][x] = A[i * n + first + x];
        right[y][x] = B[(first + y) * n + j];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    C[i * n + j] = sum;
}
