extern "C" __global__ void divergent_f32(const float *X, float *Y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    float value = X[i];
#pragma unroll 1
    for (int round = 0; round < i % 4; ++round) value = fmaf(value, 0.5f, 1.0f);
    Y[i] = value;
}
