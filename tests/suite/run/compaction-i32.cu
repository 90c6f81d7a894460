extern "C" __global__ void count_kept(const int *X, int *counts, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int kept = __syncthreads_count(i < n && X[i] < 0);
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

extern "C" __global__ void scan_counts(int *counts, int *KEPT, int blocks) {
    int before = 0;
    for (int block = 0; block < blocks; ++block) {
        const int own = counts[block];
        counts[block] = before;
        before += own;
    }
    *KEPT = before;
}

extern "C" __global__ void write_kept(const int *X, const int *counts, int *Y, int n) {
    __shared__ int warps[BLOCK / 32];
    const int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32;
    const int x = i < n ? X[i] : 0;
    const unsigned kept = __ballot_sync(0xFFFFFFFFu, x < 0);
    if (lane == 0) warps[threadIdx.x / 32] = __popc(kept);
    __syncthreads();
    int place = counts[blockIdx.x] + __popc(kept & ((1u << lane) - 1));
    for (int warp = 0; warp < threadIdx.x / 32; ++warp) place += warps[warp];
    if (x < 0) Y[place] = x;
}
