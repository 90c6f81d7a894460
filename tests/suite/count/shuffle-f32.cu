extern "C" __global__ void shuffle_f32(const float *X, float *Y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    float sum = X[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    if (threadIdx.x % 32 == 0) Y[i / 32] = sum;
}
