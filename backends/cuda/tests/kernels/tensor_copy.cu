// One box of a tensor map a block, by a bulk copy that an mbarrier waits for, and the way back by one that a group waits for.

static __device__ unsigned shared_address(const void *pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

static __device__ void load_box(unsigned to, const CUtensorMap *map, int column, int row, unsigned barrier) {
    const unsigned bytes = BOX_ROWS * BOX_COLUMNS * sizeof(float);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}

static __device__ bool has_passed(unsigned barrier, unsigned parity) {
    unsigned passed;
    asm volatile("{\n"
                 "    .reg .pred p;\n"
                 "    mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "    selp.u32 %0, 1, 0, p;\n"
                 "}\n"
                 : "=r"(passed)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return passed != 0;
}

// `C` has whole boxes; what a box has beyond the edge of the array is zero. With a swizzle of 128 bytes the 16-byte pieces of
// a row change places by the row's number.
extern "C" __global__ void __launch_bounds__(BLOCK_X)
    tensor_copy(const __grid_constant__ CUtensorMap a_map, C_T *C, int swizzled) {
    __shared__ alignas(1024) float tile[BOX_ROWS * BOX_COLUMNS];
    __shared__ alignas(8) unsigned long long barrier;
    const int row = blockIdx.y * BOX_ROWS, column = blockIdx.x * BOX_COLUMNS;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
        // Bulk copies go another way to memory than threads, and must see the barrier.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        load_box(shared_address(tile), &a_map, column, row, shared_address(&barrier));
    }
    __syncthreads();
    while (!has_passed(shared_address(&barrier), 0)) {
    }
    for (int at = threadIdx.x; at < BOX_ROWS * BOX_COLUMNS; at += BLOCK_X) {
        const int r = at / BOX_COLUMNS, c = at % BOX_COLUMNS;
        const int piece = swizzled ? (c / 4) ^ (r % 8) : c / 4;
        C[(row + r) * (gridDim.x * BOX_COLUMNS) + column + c] = tile[r * BOX_COLUMNS + piece * 4 + c % 4];
    }
}

// Writes `A` into the array of the map, a box a block; what lies beyond the array's edge is not written.
extern "C" __global__ void __launch_bounds__(BLOCK_X) tensor_store(const A_T *A, const __grid_constant__ CUtensorMap c_map) {
    __shared__ alignas(128) float tile[BOX_ROWS * BOX_COLUMNS];
    const int row = blockIdx.y * BOX_ROWS, column = blockIdx.x * BOX_COLUMNS;
    for (int at = threadIdx.x; at < BOX_ROWS * BOX_COLUMNS; at += BLOCK_X) {
        const int r = at / BOX_COLUMNS, c = at % BOX_COLUMNS;
        tile[at] = A[(row + r) * (gridDim.x * BOX_COLUMNS) + column + c];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&c_map), "r"(column),
                     "r"(row), "r"(shared_address(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
