extern "C" __global__ void add_under_locks(const X_T *X, locks_T *locks, SUMS_T *SUMS, COUNTS_T *COUNTS, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const int bin = i % 4;
    for (bool done = false; !done;) {
        if (atomicCAS(&locks[bin], 0u, 1u) != 0u) continue;
        __threadfence();
        volatile SUMS_T *sum = SUMS + bin;
        volatile COUNTS_T *count = COUNTS + bin;
        *sum = *sum + X[i];
        *count = *count + 1;
        __threadfence();
        atomicExch(&locks[bin], 0u);
        done = true;
    }
}
