struct Pair { float largest, sum; };

// Joins what two stretches of a row came to; a stretch without elements has the largest minus infinity.
__device__ Pair joined(Pair a, Pair b) {
    const float largest = fmaxf(a.largest, b.largest);
    if (largest == __int_as_float(0xFF800000)) return {largest, 0.0f};
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

extern "C" __global__ void softmax_online(const float *X, float *Y, int m, int n) {
    const int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (row >= m) return;
    Pair own = {__int_as_float(0xFF800000), 0.0f};
    for (int k = lane; k < n; k += 32) own = joined(own, {X[row * n + k], 1.0f});
    for (int offset = 16; offset > 0; offset >>= 1) {
        Pair other;
        other.largest = __shfl_xor_sync(0xFFFFFFFFu, own.largest, offset);
        other.sum = __shfl_xor_sync(0xFFFFFFFFu, own.sum, offset);
        own = joined(own, other);
    }
    for (int k = lane; k < n; k += 32) Y[row * n + k] = expf(X[row * n + k] - own.largest) / own.sum;
}
