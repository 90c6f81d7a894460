StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_T> C;

struct Arguments {
    int n;
    int offset;
    ELEMENT factor;
};
[[vk::push_constant]] Arguments arguments;

[numthreads(BLOCK_X, 1, 1)]
void add(uint3 at : SV_DispatchThreadID) {
    int i = int(at.x);
    if (i < arguments.n) {
        C[i] = A[i] + B[i];
    }
}

[numthreads(BLOCK_X, 1, 1)]
void scale(uint3 at : SV_DispatchThreadID) {
    int i = int(at.x);
    if (i < arguments.n) {
        C[i] = A[i] * arguments.factor + arguments.offset;
    }
}
