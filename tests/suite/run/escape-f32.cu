// The intrinsics keep the compiler from fusing: the last bit decides when a point escapes.
extern "C" __global__ void escape_f32(const float *X, const float *Z, int *COUNT, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float cx = X[i], cy = Z[i];
    float x = 0, y = 0;
    int steps = 0;
    while (steps < STEPS) {
        const float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fadd_rn(__fmul_rn(2.0f, __fmul_rn(x, y)), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
        ++steps;
    }
    COUNT[i] = steps;
}
