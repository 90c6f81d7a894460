// C = A x B, row-major: one thread computes one element of C.
StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_T> C;

struct Arguments {
    int n;
};
[[vk::push_constant]] Arguments arguments;

[numthreads(BLOCK_X, BLOCK_Y, 1)]
void matmul(uint3 global : SV_DispatchThreadID) {
    const int n = arguments.n;
    const int i = (int)global.y;
    const int j = (int)global.x;
    ACCUMULATOR sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += A[i * n + k] * B[k * n + j];
    }
    C[i * n + j] = sum;
}
