// C = A x B, one element a thread.
extern "C" __global__ void matmul(const A_T* __restrict__ A, const B_T* __restrict__ B, C_T* __restrict__ C, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    ACCUMULATOR sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += A[row * n + k] * B[k * n + column];
    }
    C[row * n + column] = (C_T)sum;
}
