// Rounds over a whole array in one launch: every round reads what all blocks wrote in the one before.
#include <cooperative_groups.h>

extern "C" __global__ void __launch_bounds__(BLOCK_X) grid_rounds(const A_T *A, B_T *B, C_T *C, int n, int rounds) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned *from = B, *to = C;
    for (int at = blockIdx.x * BLOCK_X + threadIdx.x; at < n; at += gridDim.x * BLOCK_X)
        B[at] = A[at];
    for (int round = 0; round < rounds; ++round) {
        grid.sync();
        for (int at = blockIdx.x * BLOCK_X + threadIdx.x; at < n; at += gridDim.x * BLOCK_X)
            to[at] = 3 * from[at] + from[(at + 257 * (round + 1)) % n];
        unsigned *swapped = from;
        from = to;
        to = swapped;
    }
}
