extern "C" __global__ void scan_warp(const int *X, int *Y, int m) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= m) return;
    int sum = X[row * 32 + lane];
    for (int offset = 1; offset < 32; offset <<= 1) {
        const int left = __shfl_up_sync(0xFFFFFFFFu, sum, offset);
        if (lane >= offset) sum += left;
    }
    Y[row * 32 + lane] = sum;
}
