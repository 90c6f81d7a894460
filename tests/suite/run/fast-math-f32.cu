extern "C" __global__ void fast_math_f32(const float *X, float *EXP, float *LOG, float *SIN, float *INVERSE,
                                         float *QUOTIENT, float *ATAN, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = X[i];
    EXP[i] = __expf(x);
    LOG[i] = __logf(x);
    SIN[i] = __sinf(x);
    INVERSE[i] = rsqrtf(x);
    QUOTIENT[i] = __fdividef(1.0f, x);
    ATAN[i] = atanf(x);
}
