// C = A x B, one element a thread.
StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_T> C;

struct Arguments {
    uint n;
};
[[vk::push_constant]] Arguments arguments;

[numthreads(BLOCK_X, BLOCK_Y, 1)]
void matmul(uint3 id : SV_DispatchThreadID) {
    uint n = arguments.n;
    ACCUMULATOR sum = 0;
    for (uint k = 0; k < n; ++k) {
        sum += A[id.y * n + k] * B[k * n + id.x];
    }
    C[id.y * n + id.x] = (C_T)sum;
}
