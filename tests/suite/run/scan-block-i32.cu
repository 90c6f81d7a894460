extern __shared__ int tree[];

extern "C" __global__ void scan_block(const int *X, int *Y, int n) {
    const int t = threadIdx.x, row = blockIdx.x * n;
    tree[t] = t < n ? X[row + t] : 0;
    tree[t + BLOCK] = t + BLOCK < n ? X[row + t + BLOCK] : 0;
    int stride = 1;
    for (int active = BLOCK; active > 0; active >>= 1) {
        __syncthreads();
        if (t < active) tree[stride * (2 * t + 2) - 1] += tree[stride * (2 * t + 1) - 1];
        stride <<= 1;
    }
    if (t == 0) tree[2 * BLOCK - 1] = 0;
    for (int active = 1; active <= BLOCK; active <<= 1) {
        stride >>= 1;
        __syncthreads();
        if (t < active) {
            const int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
            const int held = tree[left];
            tree[left] = tree[right];
            tree[right] += held;
        }
    }
    __syncthreads();
    if (t < n) Y[row + t] = tree[t];
    if (t + BLOCK < n) Y[row + t + BLOCK] = tree[t + BLOCK];
}
