// C = A x B, row-major: one thread computes one element of C. Products and their sum are of type ACCUMULATOR.
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
        sum += (ACCUMULATOR)A[i * n + k] * (ACCUMULATOR)B[k * n + j];
    }
    C[i * n + j] = (C_T)sum;
}
