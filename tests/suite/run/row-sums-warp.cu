extern "C" __global__ void row_sums(const float *X, float *Y, int m, int n) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= m) return;
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += 32) sum += X[row * n + k];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
    if (threadIdx.x == 0) Y[row] = sum;
}
