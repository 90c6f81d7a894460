extern "C" __global__ void fma_f32(const float *X, float *Y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    float a = X[i], b = a;
    for (int round = 0; round < 100; ++round) {
        a = fmaf(a, 0.999f, b);
        b = fmaf(b, 0.5f, a);
    }
    Y[i] = b;
}
