extern __shared__ unsigned keys[];

extern "C" __global__ void sort_rows(const X_T *X, Y_T *Y, int n) {
    for (int k = threadIdx.x; k < SPAN; k += SPAN / 2) keys[k] = k < n ? X[blockIdx.x * n + k] : 0xFFFFFFFFu;
    for (int size = 2; size <= SPAN; size <<= 1) {
        for (int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1)), high = low + stride;
            const bool rising = (low & size) == 0;
            const unsigned a = keys[low], b = keys[high];
            if ((a > b) == rising) {
                keys[low] = b;
                keys[high] = a;
            }
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += SPAN / 2) Y[blockIdx.x * n + k] = keys[k];
}
