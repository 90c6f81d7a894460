StructuredBuffer<A_T> A;
RWStructuredBuffer<C_T> C;
struct Arguments { int n; };
[[vk::push_constant]] Arguments arguments;
[numthreads(BLOCK_X, 1, 1)]
void add(uint3 at : SV_DispatchThreadID) {
    if (int(at.x) < arguments.n) {
        C[at.x] = A[at.x];
    }
}
