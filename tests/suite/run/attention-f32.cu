// A warp a row: lane d holds element d of the row's query and of its output. Logits are divided by 4.
extern "C" __global__ void attention(const Q_T *Q, const K_T *K, const V_T *V, O_T *O, int n) {
    __shared__ float keys[TILE][32], values[TILE][32];
    const int lane = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y;
    const float query = row < n ? Q[row * 32 + lane] : 0.0f;
    float largest = -1e30f, sum = 0, out = 0;
    for (int first = 0; first < n; first += TILE) {
        __syncthreads();
        for (int j = threadIdx.y; j < TILE; j += ROWS) {
            keys[j][lane] = first + j < n ? K[(first + j) * 32 + lane] : 0.0f;
            values[j][lane] = first + j < n ? V[(first + j) * 32 + lane] : 0.0f;
        }
        __syncthreads();
        const int end = min(TILE, n - first);
        for (int j = 0; j < end; ++j) {
            float logit = query * keys[j][lane];
            for (int offset = 16; offset > 0; offset >>= 1) logit += __shfl_xor_sync(0xFFFFFFFFu, logit, offset);
            logit *= 0.25f;
            const float grown = fmaxf(largest, logit);
            const float kept = expf(largest - grown), weight = expf(logit - grown);
            sum = sum * kept + weight;
            out = out * kept + weight * values[j][lane];
            largest = grown;
        }
    }
    if (row < n) O[row * 32 + lane] = out / sum;
}
