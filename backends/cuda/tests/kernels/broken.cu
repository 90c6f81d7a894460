extern "C" __global__ void add(const A_T *A, const B_T *B, C_T *C, int n) {
    const int i = blockIdx.x * BLOCK_X + threadIdx.x;
    C[i] = A[i] + B[k];
}
