// Arguments are large enough for sinf and cosf to take their slow way for some threads of a warp and not for others.
extern "C" __global__ void math_f32(const float *X, float *SIN, float *COS, float *LOG, float *ROOT, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = X[i];
    SIN[i] = sinf(8.0f * x);
    COS[i] = cosf(x);
    LOG[i] = logf(x);
    ROOT[i] = sqrtf(x) + 1.0f / x;
}
