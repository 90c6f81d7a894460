// The sum of each row: one thread a row. Arguments come in the order of the launch.
extern "C" __global__ void my_kernel(const A_T *A, S_T *S, int m, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= m) {
        return;
    }
    ACCUMULATOR sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += A[i * n + k];
    }
    S[i] = sum;
}
