// C = A x B, row-major: one thread computes one element of C.
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int n) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += A[i * n + k] * B[k * n + j];
    }
    C[i * n + j] = sum;
}
