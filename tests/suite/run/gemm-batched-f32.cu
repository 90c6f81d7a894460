extern "C" __global__ void gemm(const A_T *A, const B_T *B, C_T *C, int n, int p) {
    const int j = blockIdx.x * BLOCK + threadIdx.x, i = blockIdx.y * BLOCK + threadIdx.y, b = blockIdx.z;
    if (i >= n || j >= n) return;
    const float *left = A + (b * n + i) * p, *right = B + b * p * n + j;
    float sum = 0;
    for (int k = 0; k < p; ++k) sum += left[k] * right[k * n];
    C[(b * n + i) * n + j] = sum;
}
