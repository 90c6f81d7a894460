// B = the transpose of A through a padded tile: both global accesses are of neighbours.
extern "C" __global__ __launch_bounds__(256) void transpose(const float *A, float *B, int rows, int columns) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    for (int step = 0; step < 32; step += 8) {
        if (row + step < rows && column < columns) {
            tile[threadIdx.y + step][threadIdx.x] = A[(row + step) * columns + column];
        }
    }
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int step = 0; step < 32; step += 8) {
        if (row + step < columns && column < rows) {
            B[(row + step) * rows + column] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}
