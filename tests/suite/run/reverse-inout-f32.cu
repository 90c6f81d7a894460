extern "C" __global__ void reverse(X_T *X, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x, j = n - 1 - i;
    if (i > j) return;
    const float low = X[i], high = X[j];
    X[i] = 2 * high;
    X[j] = 2 * low;
}
