// Per warp: how many elements are positive, whether all are, the mask of lanes equal to the first, and the sum.
extern "C" __global__ void votes(const int *A, unsigned *OUT, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = i < n ? A[i] : 0;
    const unsigned all = 0xffffffffu;
    const unsigned positive = __ballot_sync(all, value > 0);
    const int every = __all_sync(all, value >= 0);
    const unsigned alike = __match_any_sync(all, value);
    const unsigned sum = __reduce_add_sync(all, (unsigned)value);
    if (threadIdx.x % 32 == 0) {
        const int warp = i / 32;
        OUT[4 * warp + 0] = __popc(positive);
        OUT[4 * warp + 1] = every;
        OUT[4 * warp + 2] = alike;
        OUT[4 * warp + 3] = sum;
    }
}
