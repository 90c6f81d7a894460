extern "C" __global__ void column_sums(const float *X, float *Y, int m, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (column >= n) return;
    float sum = 0;
    const int end = min(m, (int)(blockIdx.y + 1) * ROWS);
    for (int row = blockIdx.y * ROWS; row < end; ++row) sum += X[row * n + column];
    atomicAdd(&Y[column], sum);
}
