// A block's state is a flag in the high word (1: its own total, 2: the total up to it) and the number in the low one.
// Blocks take their turn from a counter, so that those before one have started.
extern "C" __global__ void scan_lookback(const X_T *X, Y_T *Y, state_T *state, next_T *next, int n) {
    __shared__ unsigned sums[BLOCK], before, turn;
    const int t = threadIdx.x;
    if (t == 0) turn = atomicAdd(next, 1u);
    __syncthreads();
    const int i = turn * BLOCK + t;
    sums[t] = i < n ? X[i] : 0;
    for (int offset = 1; offset < BLOCK; offset <<= 1) {
        __syncthreads();
        const unsigned left = t >= offset ? sums[t - offset] : 0;
        __syncthreads();
        sums[t] += left;
    }
    __syncthreads();
    if (t == 0) {
        volatile unsigned long long *states = state;
        const unsigned own = sums[BLOCK - 1];
        states[turn] = (turn == 0 ? 2ull : 1ull) << 32 | own;
        unsigned found = 0;
        for (int at = (int)turn - 1; at >= 0;) {
            const unsigned long long word = states[at];
            if (word >> 32 == 0) continue;
            found += (unsigned)word;
            if (word >> 32 == 2) break;
            --at;
        }
        before = found;
        if (turn > 0) states[turn] = 2ull << 32 | (found + own);
    }
    __syncthreads();
    if (i < n) Y[i] = sums[t] + before;
}
