StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_TYPE> C;
[numthreads(BLOCK_X, 1, 1)]
void add(uint3 at : SV_DispatchThreadID) {
    C[at.x] = A[at.x] + B[at.x];
}
