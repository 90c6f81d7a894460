extern "C" __global__ void hash_u64(const X_T *X, Y_T *Y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long h = X[i];
    for (int round = 0; round < ROUNDS; ++round) {
        h ^= h >> 33;
        h *= 0xFF51AFD7ED558CCDull;
        h = h << 29 | h >> 35;
        h += __umul64hi(h, 0x9E3779B97F4A7C15ull) ^ (h / 1000003ull) ^ (h % 12289ull);
        h ^= (unsigned long long)((long long)h >> 7) + __popcll(h) + __clzll(h) + __ffsll(h);
        h ^= __brevll(h);
    }
    Y[i] = h;
}
