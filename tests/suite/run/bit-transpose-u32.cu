extern "C" __global__ void bit_transpose(const unsigned *X, unsigned *Y, int m) {
    const int lane = threadIdx.x, at = blockIdx.x * WARPS + threadIdx.y;
    if (at >= m) return;
    unsigned x = X[at * 32 + lane];
    unsigned mask = 0x0000FFFFu;
    for (int width = 16; width > 0; width >>= 1) {
        const unsigned other = __shfl_xor_sync(0xFFFFFFFFu, x, width);
        x = lane & width ? (x & ~mask) | ((other >> width) & mask) : (x & mask) | ((other << width) & ~mask);
        mask ^= mask << (width / 2);
    }
    Y[at * 32 + lane] = x;
}
