extern "C" __global__ void fma_f64(const double *X, double *Y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    double a = X[i];
    for (int round = 0; round < 50; ++round) a = fma(a, 0.999, 0.25);
    Y[i] = a;
}
