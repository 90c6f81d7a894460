extern "C" __global__ void histogram_u32(const unsigned *X, unsigned *COUNTS, int n) {
    __shared__ unsigned own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * 256 + threadIdx.x;
    atomicAdd(&own[X[i] % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&COUNTS[threadIdx.x], own[threadIdx.x]);
}
