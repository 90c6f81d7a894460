// Inclusive prefix sums of each block's elements, with the block's total: shuffles within a warp, one warp over warps.
extern "C" __global__ void scan(const int *A, int *OUT, int *TOTALS, int n) {
    __shared__ int totals[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    int value = i < n ? A[i] : 0;
    for (int step = 1; step < 32; step <<= 1) {
        const int below = __shfl_up_sync(0xffffffffu, value, step);
        if (lane >= step) {
            value += below;
        }
    }
    if (lane == 31) {
        totals[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        int total = lane < blockDim.x / 32 ? totals[lane] : 0;
        for (int step = 1; step < 32; step <<= 1) {
            const int below = __shfl_up_sync(0xffffffffu, total, step);
            if (lane >= step) {
                total += below;
            }
        }
        totals[lane] = total;
    }
    __syncthreads();
    if (warp > 0) {
        value += totals[warp - 1];
    }
    if (i < n) {
        OUT[i] = value;
    }
    if (threadIdx.x == blockDim.x - 1) {
        TOTALS[blockIdx.x] = value;
    }
}
