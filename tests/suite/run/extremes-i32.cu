extern "C" __global__ void extremes(const int *X, int *LEAST, int *LARGEST, int *TOTAL, int n) {
    __shared__ int least, largest, total;
    if (threadIdx.x == 0) {
        least = 0x7FFFFFFF;
        largest = -0x7FFFFFFF - 1;
        total = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicMin(&least, X[i]);
        atomicMax(&largest, X[i]);
        atomicAdd(&total, X[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(LEAST, least);
        atomicMax(LARGEST, largest);
        atomicAdd(TOTAL, total);
    }
}
