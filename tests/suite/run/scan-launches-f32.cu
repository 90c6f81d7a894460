__device__ float warp_scan(float sum) {
    for (int offset = 1; offset < 32; offset <<= 1) {
        const float left = __shfl_up_sync(0xFFFFFFFFu, sum, offset);
        if (threadIdx.x % 32 >= offset) sum += left;
    }
    return sum;
}

extern "C" __global__ void scan_blocks(const X_T *X, Y_T *Y, totals_T *totals, int n) {
    __shared__ float warps[BLOCK / 32];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = warp_scan(i < n ? X[i] : 0.0f);
    if (threadIdx.x % 32 == 31) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int warp = 0; warp < threadIdx.x / 32; ++warp) sum += warps[warp];
    if (i < n) Y[i] = sum;
    if (threadIdx.x == BLOCK - 1) totals[blockIdx.x] = sum;
}

extern "C" __global__ void scan_totals(totals_T *totals, int blocks) {
    float carried = 0;
    for (int first = 0; first < blocks; first += 32) {
        const int i = first + threadIdx.x;
        const float sum = warp_scan(i < blocks ? totals[i] : 0.0f) + carried;
        if (i < blocks) totals[i] = sum;
        carried = __shfl_sync(0xFFFFFFFFu, sum, 31);
    }
}

extern "C" __global__ void add_totals(Y_T *Y, const totals_T *totals, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x > 0 && i < n) Y[i] += totals[blockIdx.x - 1];
}
