// C = A x B through tiles in shared memory. Wrong: no barrier after the loads.
StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_T> C;

struct Arguments {
    int n;
};
[[vk::push_constant]] Arguments arguments;

groupshared A_T left_tile[BLOCK_Y * TILE_K_SIZE];
groupshared B_T right_tile[TILE_K_SIZE * BLOCK_X];

[numthreads(BLOCK_X, BLOCK_Y, 1)]
void matmul(uint3 block : SV_GroupID, uint3 thread : SV_GroupThreadID) {
    const int n = arguments.n;
    const int row = (int)(block.y * BLOCK_Y), column = (int)(block.x * BLOCK_X);
    const int t = (int)(thread.y * BLOCK_X + thread.x);
    ACCUMULATOR sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE_K_SIZE) {
        for (int e = t; e < BLOCK_Y * TILE_K_SIZE; e += BLOCK_X * BLOCK_Y) {
            left_tile[e] = A[(row + e / TILE_K_SIZE) * n + k0 + e % TILE_K_SIZE];
        }
        for (int e = t; e < TILE_K_SIZE * BLOCK_X; e += BLOCK_X * BLOCK_Y) {
            right_tile[e] = B[(k0 + e / BLOCK_X) * n + column + e % BLOCK_X];
        }
        
        for (int kk = 0; kk < TILE_K_SIZE; ++kk) {
            sum += left_tile[thread.y * TILE_K_SIZE + kk] * right_tile[kk * BLOCK_X + thread.x];
        }
        GroupMemoryBarrierWithGroupSync();
    }
    C[(row + thread.y) * n + column + thread.x] = sum;
}
