#define NONE __int_as_float(0xFF800000)

// Each lane keeps its own four in order; four times the warp takes the best head of all lanes.
extern "C" __global__ void top_k(const float *X, float *Y, int m, int n) {
    const int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (row >= m) return;
    float own[4] = {NONE, NONE, NONE, NONE};
    for (int k = lane; k < n; k += 32) {
        float x = X[row * n + k];
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            const float kept = fmaxf(own[s], x);
            x = fminf(own[s], x);
            own[s] = kept;
        }
    }
    int taken = 0;
    for (int place = 0; place < 4; ++place) {
        const float head = taken < 4 ? own[taken] : NONE;
        float best = head;
        for (int offset = 16; offset > 0; offset >>= 1) best = fmaxf(best, __shfl_xor_sync(0xFFFFFFFFu, best, offset));
        const unsigned holders = __ballot_sync(0xFFFFFFFFu, head == best);
        if (lane == __ffs(holders) - 1) {
            Y[row * 4 + place] = best;
            ++taken;
        }
    }
}
