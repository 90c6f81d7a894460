extern __shared__ unsigned own[];

extern "C" __global__ void histogram(const float *X, unsigned *COUNTS, int n) {
    for (int bin = threadIdx.x; bin < 64; bin += BLOCK) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        const int bin = min(max((int)floorf((X[i] + 1.0f) * 32.0f), 0), 63);
        const unsigned active = __activemask();
        const unsigned same = __match_any_sync(active, bin);
        if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&own[bin], __popc(same));
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 64; bin += BLOCK) atomicAdd(&COUNTS[bin], own[bin]);
}
