// The lanes of a warp that have an element take part: all of them, but for the last warp's.
extern "C" __global__ void votes(const X_T *X, ANY_T *ANY, ALL_T *ALL, BALLOT_T *BALLOT, MATCH_T *MATCH, SUM_T *SUM,
                                 LEAST_T *LEAST, MIXED_T *MIXED, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const unsigned part = __ballot_sync(0xFFFFFFFFu, i < n);
    if (i >= n) return;
    const unsigned x = X[i];
    ANY[i] = __any_sync(part, x == 11u);
    ALL[i] = __all_sync(part, x > 0u);
    BALLOT[i] = __ballot_sync(part, x & 1u);
    MATCH[i] = __match_any_sync(part, x);
    SUM[i] = __reduce_add_sync(part, x);
    LEAST[i] = __reduce_min_sync(part, x);
    int same;
    const unsigned all = __match_all_sync(part, x >> 4, &same);
    MIXED[i] = __reduce_xor_sync(part, x << (i % 20)) ^ (all + same);
}
