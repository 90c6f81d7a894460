__device__ __noinline__ unsigned long long next(unsigned long long x) { return x & 1 ? 3 * x + 1 : x / 2; }

extern "C" __global__ void collatz(const X_T *X, STEPS_T *STEPS, PEAK_T *PEAK, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = X[i], peak = x;
    int steps = 0;
    for (; x != 1; ++steps) {
        x = next(x);
        peak = max(peak, x);
    }
    STEPS[i] = steps;
    PEAK[i] = peak;
}
