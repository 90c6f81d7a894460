// Counts the values 0 to 255 of A: first in shared memory, then once a block in global memory.
extern "C" __global__ void histogram(const unsigned *A, unsigned *COUNTS, int n) {
    __shared__ unsigned counts[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        counts[bin] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[A[i] & 255u], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        atomicAdd(&COUNTS[bin], counts[bin]);
    }
}
