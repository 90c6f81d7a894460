struct Moments {
    float count = 0, mean = 0, squares = 0;

    __device__ void add(float x) {
        count += 1;
        const float delta = x - mean;
        mean += delta / count;
        squares += delta * (x - mean);
    }

    __device__ void join(const Moments &other) {
        const float all = count + other.count;
        if (all == 0) return;
        const float delta = other.mean - mean;
        mean += delta * (other.count / all);
        squares += other.squares + delta * delta * (count * other.count / all);
        count = all;
    }
};

extern "C" __global__ void layer_norm(const float *X, float *Y, int m, int n) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= m) return;
    Moments own;
    for (int k = threadIdx.x; k < n; k += 32) own.add(X[row * n + k]);
    for (int offset = 16; offset > 0; offset >>= 1) {
        Moments other;
        other.count = __shfl_down_sync(0xFFFFFFFFu, own.count, offset);
        other.mean = __shfl_down_sync(0xFFFFFFFFu, own.mean, offset);
        other.squares = __shfl_down_sync(0xFFFFFFFFu, own.squares, offset);
        own.join(other);
    }
    const float mean = __shfl_sync(0xFFFFFFFFu, own.mean, 0);
    const float variance = __shfl_sync(0xFFFFFFFFu, own.squares, 0) / n;
    const float inverse = 1.0f / sqrtf(variance + 0.00001f);
    for (int k = threadIdx.x; k < n; k += 32) Y[row * n + k] = (X[row * n + k] - mean) * inverse;
}
