// C = A x B, row-major: one thread computes one element of C. Products and their sum are of type ACCUMULATOR.
extern "C" __global__ void matmul(const A_T *A, const B_T *B, C_T *C, int n) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    ACCUMULATOR sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += (ACCUMULATOR)A[i * n + k] * (ACCUMULATOR)B[k * n + j];
    }
    C[i * n + j] = (C_T)sum;
}
