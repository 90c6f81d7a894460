extern "C" __global__ void sort_local(const int *X, int *Y, int m) {
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= m) return;
    int own[16];
#pragma unroll 1
    for (int k = 0; k < 16; ++k) {
        const int x = X[row * 16 + k];
        int at = k;
#pragma unroll 1
        for (; at > 0 && own[at - 1] > x; --at) own[at] = own[at - 1];
        own[at] = x;
    }
#pragma unroll 1
    for (int k = 0; k < 16; ++k) Y[row * 16 + k] = own[k];
}
