extern "C" __global__ void add(const A_T *A, C_T *C, int n) {
    const int i = blockIdx.x * BLOCK_X + threadIdx.x;
    if (i < n) {
        C[i] = A[i] + A[i];
    }
}
