extern "C" __global__ void convolution(const double *X, const double *W, double *Y, int n) {
    __shared__ double span[BLOCK + 6], taps[7];
    const int first = blockIdx.x * BLOCK;
    if (threadIdx.x < 7) taps[threadIdx.x] = W[threadIdx.x];
    for (int at = threadIdx.x; at < BLOCK + 6; at += BLOCK) {
        const int i = first + at - 3;
        span[at] = i >= 0 && i < n ? X[i] : 0.0;
    }
    __syncthreads();
    double sum = 0;
#pragma unroll
    for (int t = 0; t < 7; ++t) sum += span[threadIdx.x + t] * taps[t];
    if (first + threadIdx.x < n) Y[first + threadIdx.x] = sum;
}
