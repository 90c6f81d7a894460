// Blocks of a cluster read each other's shared memory, and add to a counter in that of the first.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __launch_bounds__(BLOCK_X) cluster_sum(const A_T *A, C_T *C, D_T *D) {
    __shared__ float tile[BLOCK_X];
    __shared__ unsigned visits;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    const unsigned at = blockIdx.x * BLOCK_X + threadIdx.x;
    tile[threadIdx.x] = A[at];
    if (threadIdx.x == 0)
        visits = 0;
    cluster.sync();

    // The sum over the cluster, each block beginning with itself; the reversed order shows a wrong thread.
    float sum = 0;
    for (unsigned step = 0; step < size; ++step) {
        const float *other = cluster.map_shared_rank(tile, (rank + step) % size);
        sum += other[BLOCK_X - 1 - threadIdx.x];
    }
    atomicAdd(cluster.map_shared_rank(&visits, 0), rank + 1);
    C[at] = sum;
    // Nobody leaves while others may still read its memory.
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0)
        D[blockIdx.x / size] = visits;
}
