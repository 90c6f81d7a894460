// Reverses rows that are too long for 48 KB of shared memory.

extern "C" __global__ void __launch_bounds__(BLOCK_X) shared_reverse(const A_T *A, C_T *C, int columns) {
    extern __shared__ float row[];
    const long long start = static_cast<long long>(blockIdx.x) * columns;
    for (int at = threadIdx.x; at < columns; at += BLOCK_X)
        row[at] = A[start + at];
    __syncthreads();
    for (int at = threadIdx.x; at < columns; at += BLOCK_X)
        C[start + at] = row[columns - 1 - at];
}
