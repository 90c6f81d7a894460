template <int SIDE> __device__ float window(const float *x, const float *w, int stride) {
    float sum = 0;
#pragma unroll
    for (int a = 0; a < SIDE; ++a) {
#pragma unroll
        for (int b = 0; b < SIDE; ++b) sum += x[a * stride + b] * w[a * SIDE + b];
    }
    return sum;
}

extern "C" __global__ void convolution(const float *X, const float *W, float *Y, int channels, int m, int n) {
    const int j = blockIdx.x * BLOCK + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y, f = blockIdx.z;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int c = 0; c < channels; ++c) {
        sum += window<3>(X + (c * (m + 2) + i) * (n + 2) + j, W + (f * channels + c) * 9, n + 2);
    }
    Y[(f * m + i) * n + j] = sum;
}
