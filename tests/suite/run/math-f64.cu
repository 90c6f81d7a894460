extern "C" __global__ void math_f64(const double *X, double *EXP, double *LOG, double *SIN, double *QUOTIENT,
                                    double *ROOT, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double x = X[i];
    EXP[i] = exp(x - 10.0);
    LOG[i] = log(x);
    SIN[i] = sin(x);
    QUOTIENT[i] = (x + 1.0) / (x * x);
    ROOT[i] = sqrt(x);
}
