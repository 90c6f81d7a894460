extern "C" __global__ void histogram(const X_T *X, COUNTS_T *COUNTS, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(COUNTS + X[i], 1u);
}
