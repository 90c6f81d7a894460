extern "C" __global__ void transposed(const double *X, double *Y, int m, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) Y[j * m + i] = X[i * n + j];
}
