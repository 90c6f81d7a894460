extern "C" __global__ void lanes(const int *x, unsigned *out) {
    int lane = threadIdx.x, v = x[lane];
    unsigned *o = out + lane * 16;
    o[0] = __ballot_sync(~0u, v > 3);
    o[1] = __any_sync(~0u, v == 5);
    o[2] = __all_sync(~0u, v < 100);
    o[3] = __match_any_sync(~0u, v);
    int same; o[4] = __match_all_sync(~0u, v / 1000, &same); o[5] = same;
    o[6] = __reduce_add_sync(~0u, (unsigned)v);
    o[7] = __reduce_min_sync(~0u, v - 5);
    o[8] = __reduce_xor_sync(~0u, (unsigned)v);
    o[9] = __shfl_sync(~0u, v, lane + 3, 8);
    o[10] = __shfl_up_sync(~0u, v, 2, 16);
    if (lane % 2) { unsigned m = __activemask(); o[11] = m; o[12] = __shfl_xor_sync(m, v, 2); }
    o[13] = __syncthreads_count(v & 1);
    o[14] = __syncthreads_and(v >= 0);
    o[15] = __syncthreads_or(v == 77);
}
extern "C" __global__ void lock(int *mutex, int *count) {
    for (bool done = false; !done;) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            *(volatile int *)count = *(volatile int *)count + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}
// Each block waits for the block after it, so that they all must be under way.
extern "C" __global__ void chain(volatile int *flags, int *out) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b + 1 < gridDim.x) while (flags[b + 1] == 0) {}
        out[b] = b + 1 < gridDim.x ? out[b + 1] + 1 : 1;
        __threadfence();
        flags[b] = 1;
    }
    __syncthreads();
}
extern "C" __global__ void atomics(int *i, unsigned *u, float *f, double *d, unsigned long long *l) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], 1); atomicMin(&i[1], t - 7); atomicMax(&i[2], t); atomicAnd(&u[0], ~(1u << t % 32)); atomicOr(&u[1], 1u << t % 32);
    atomicXor(&u[2], t); atomicInc(&u[3], 9); atomicDec(&u[4], 9); atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(l, 1ull << 33);
    atomicMax(&l[1], (unsigned long long)t << 32);
}
