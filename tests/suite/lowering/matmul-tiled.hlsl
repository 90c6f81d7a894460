StructuredBuffer<A_T> A;
StructuredBuffer<B_T> B;
RWStructuredBuffer<C_T> C;

struct Arguments {
    uint n;
};
[[vk::push_constant]] Arguments arguments;

groupshared ELEMENT tile_a[BLOCK_Y][TILE_K_SIZE + 1];
groupshared ELEMENT tile_b[TILE_K_SIZE * BLOCK_X];

[numthreads(BLOCK_X, BLOCK_Y, 1)]
void matmul(uint3 group : SV_GroupID, uint3 local : SV_GroupThreadID, uint index : SV_GroupIndex) {
    const uint n = arguments.n;
    const uint row = group.y * BLOCK_Y + local.y;
    const uint column = group.x * BLOCK_X + local.x;
    ACCUMULATOR sum = (ACCUMULATOR)0;
    for (uint k0 = 0; k0 < n; k0 += TILE_K_SIZE) {
        for (uint i = index; i < BLOCK_Y * TILE_K_SIZE; i += BLOCK_X * BLOCK_Y) {
            tile_a[i / TILE_K_SIZE][i % TILE_K_SIZE] = LOAD_A(group.y * BLOCK_Y + i / TILE_K_SIZE, k0 + i % TILE_K_SIZE);
        }
        for (uint j = index; j < TILE_K_SIZE * BLOCK_X; j += BLOCK_X * BLOCK_Y) {
            tile_b[j] = B[(k0 + j / BLOCK_X) * n + group.x * BLOCK_X + j % BLOCK_X];
        }
        GroupMemoryBarrierWithGroupSync();
        [unroll]
        for (uint k = 0; k < TILE_K_SIZE; ++k) {
            sum = mad(tile_a[local.y][k], tile_b[k * BLOCK_X + local.x], sum);
        }
        GroupMemoryBarrierWithGroupSync();
    }
    if (row < n && column < n) {
        STORE_C(row, column, sum);
    }
}
