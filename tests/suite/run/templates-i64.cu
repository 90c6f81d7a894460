struct Sum {
    static constexpr long long start = 0;
    __device__ long long operator()(long long all, long long x, long long) const { return all + x; }
};

struct Largest {
    static constexpr long long start = -0x7FFFFFFFFFFFFFFFll - 1;
    __device__ long long operator()(long long all, long long x, long long) const { return max(all, x); }
};

struct Distance {
    static constexpr long long start = 0;
    __device__ long long operator()(long long all, long long x, long long first) const { return all + llabs(x - first); }
};

template <typename Operation, int COUNT>
__device__ long long over(const long long *x, int n, Operation operation = {}) {
    long long all = Operation::start;
    int k = 0;
    if constexpr (COUNT > 1) {
        for (; k + COUNT <= n; k += COUNT) {
#pragma unroll
            for (int u = 0; u < COUNT; ++u) all = operation(all, x[k + u], x[0]);
        }
    }
    for (; k < n; ++k) all = operation(all, x[k], x[0]);
    return all;
}

extern "C" __global__ void over_rows(const X_T *X, SUM_T *SUM, LARGEST_T *LARGEST, DISTANCE_T *DISTANCE, int m, int n) {
    const int row = blockIdx.x * 32 + threadIdx.x;
    if (row >= m) return;
    const long long *x = X + row * n;
    SUM[row] = over<::Sum, UNROLL>(x, n);
    LARGEST[row] = over<::Largest, UNROLL>(x, n);
    DISTANCE[row] = over<::Distance, UNROLL>(x, n);
}
