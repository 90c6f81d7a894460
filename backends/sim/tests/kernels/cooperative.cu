// Blocks that wait for each other: through the grid's barrier, and through that of their cluster.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Every round reads what all blocks wrote in the one before.
extern "C" __global__ void grid_rounds(unsigned *a, unsigned *b, int n, int rounds) {
    const cg::grid_group grid = cg::this_grid();
    unsigned *from = a, *to = b;
    for (int round = 0; round < rounds; ++round) {
        for (int at = grid.thread_rank(); at < n; at += grid.size())
            to[at] = 3 * from[at] + from[(at + 257 * (round + 1)) % n];
        grid.sync();
        unsigned *swapped = from;
        from = to;
        to = swapped;
    }
}

// Each thread sums what the threads across it hold in every block of the cluster, and the blocks add to a counter of the
// first one.
extern "C" __global__ void cluster_sum(const float *a, float *c, unsigned *d) {
    __shared__ float tile[64];
    __shared__ unsigned visits;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    const unsigned at = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = a[at];
    if (threadIdx.x == 0)
        visits = 0;
    cluster.sync();
    float sum = 0;
    for (unsigned step = 0; step < size; ++step)
        sum += cluster.map_shared_rank(tile, (rank + step) % size)[63 - threadIdx.x];
    atomicAdd(cluster.map_shared_rank(&visits, 0), rank + 1);
    c[at] = sum;
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0)
        d[blockIdx.x / size] = visits;
}

static __device__ unsigned of_rank(const void *pointer, unsigned rank) {
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"(static_cast<unsigned>(__cvta_generic_to_shared(pointer))), "r"(rank));
    return address;
}

// Writes into the next block's memory, and adds there, by addresses of the cluster's own space.
extern "C" __global__ void cluster_pass(unsigned *out) {
    __shared__ unsigned box[2];
    unsigned rank, size, owner;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    if (threadIdx.x < 2)
        box[threadIdx.x] = 0;
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    const unsigned next = (rank + 1) % size;
    if (threadIdx.x == 0)
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(of_rank(&box[0], next)), "r"(100 + rank) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(of_rank(&box[1], next)), "r"(threadIdx.x) : "memory");
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
    unsigned seen;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(of_rank(&box[0], next)) : "memory");
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(of_rank(&box[0], next)));
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        unsigned *own = out + 8 * ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
        const cg::cluster_group cluster = cg::this_cluster();
        own[0] = rank;
        own[1] = box[0];
        own[2] = box[1];
        own[3] = seen;
        own[4] = owner;
        own[5] = cluster.block_index().x + 10 * cluster.block_index().y;
        own[6] = cluster.dim_blocks().x + 10 * cluster.dim_blocks().y;
        own[7] = __clusterIdx().x + 10 * __clusterIdx().y + 100 * __clusterGridDimInClusters().x + 1000 * __clusterGridDimInClusters().y;
    }
}

// A flag in the first block's memory, which the others wait for by looking.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_flag(unsigned *out) {
    __shared__ unsigned flag;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        flag = 0;
    cluster.sync();
    volatile unsigned *first = cluster.map_shared_rank(&flag, 0);
    const unsigned rank = cluster.block_rank();
    while (*first != rank) {
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x] = *first;
        *first = rank + 1;
    }
    cluster.sync();
}

// Faults: a barrier to which one block never comes because it waits for its own, and accesses beyond what there is.
extern "C" __global__ void cluster_stuck() {
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

extern "C" __global__ void cluster_half(int *out) {
    const cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 0 && threadIdx.x < 32)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    cluster.sync();
    out[0] = 1;
}

extern "C" __global__ void cluster_beyond(float *out, int rank, int at) {
    __shared__ float tile[64];
    tile[threadIdx.x] = 1;
    const cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    out[threadIdx.x] = cluster.map_shared_rank(tile, rank)[at];
    cluster.sync();
}
