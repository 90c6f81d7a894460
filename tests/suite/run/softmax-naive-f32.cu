extern "C" __global__ void softmax_rows(const float *X, float *Y, int m, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    const float *x = X + row * n;
    float largest = x[0];
    for (int k = 1; k < n; ++k) largest = fmaxf(largest, x[k]);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += expf(x[k] - largest);
    for (int k = 0; k < n; ++k) Y[row * n + k] = expf(x[k] - largest) / sum;
}
