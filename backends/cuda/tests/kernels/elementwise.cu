extern "C" __global__ void add(const A_T *A, const B_T *B, C_T *C, int n) {
    const int i = blockIdx.x * BLOCK_X + threadIdx.x;
    if (i < n) {
        C[i] = A[i] + B[i];
    }
}

extern "C" __global__ void scale(const A_T *A, C_T *C, ELEMENT factor, int n, int offset) {
    const int i = blockIdx.x * BLOCK_X + threadIdx.x;
    if (i < n) {
        C[i] = A[i] * factor + static_cast<ELEMENT>(offset);
    }
}
