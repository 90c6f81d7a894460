StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_T> C;
groupshared ELEMENT tile[SHARED_ELEMENTS];
struct Arguments { int n; };
[[vk::push_constant]] Arguments arguments;
[numthreads(BLOCK_X, 1, 1)]
void add(uint3 at : SV_DispatchThreadID, uint index : SV_GroupIndex) {
    bool inside = int(at.x) < arguments.n;
    tile[index] = inside ? A[at.x] : 0;
    GroupMemoryBarrierWithGroupSync();
    if (inside) {
        C[at.x] = tile[index] + B[at.x];
    }
}
