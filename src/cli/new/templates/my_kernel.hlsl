// The sum of each row: one thread a row. Arrays are buffers of their names, scalars members of one push constant.
StructuredBuffer<A_T> A;
RWStructuredBuffer<S_T> S;

struct Arguments {
    int m;
    int n;
};
[[vk::push_constant]] Arguments arguments;

[numthreads(THREADS, 1, 1)]
void my_kernel(uint3 global : SV_DispatchThreadID) {
    const int m = arguments.m;
    const int n = arguments.n;
    const int i = (int)global.x;
    if (i >= m) {
        return;
    }
    ACCUMULATOR sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += A[i * n + k];
    }
    S[i] = sum;
}
