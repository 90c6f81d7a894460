extern __shared__ float scratch[];

extern "C" __global__ void reduce_sum(const float *x, float *out, int n) {
    __shared__ float part[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}
extern "C" __global__ void reduce_max(const int *x, int *out, int n) {
    __shared__ int part[256];
    int v = -2147483647 - 1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v = max(v, x[i]);
    part[threadIdx.x] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] = max(part[threadIdx.x], part[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = part[0];
}
extern "C" __global__ void scan(const int *x, int *y, int n) {
    __shared__ int sums[32];
    int i = threadIdx.x, lane = i % 32, v = i < n ? x[i] : 0;
    for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
    if (lane == 31) sums[i / 32] = v;
    __syncthreads();
    if (i < 32) { int s = sums[i]; for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; } sums[i] = s; }
    __syncthreads();
    if (i >= 32) v += sums[i / 32 - 1];
    if (i < n) y[i] = v;
}
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
    const float *row = x + (long long)blockIdx.x * cols;
    float m = __int_as_float(0xff800000), s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    scratch[threadIdx.x] = m;
    __syncthreads();
    for (int k = blockDim.x / 2; k; k >>= 1) { if (threadIdx.x < k) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + k]); __syncthreads(); }
    m = scratch[0];
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += expf(row[i] - m);
    scratch[threadIdx.x] = s;
    __syncthreads();
    for (int k = blockDim.x / 2; k; k >>= 1) { if (threadIdx.x < k) scratch[threadIdx.x] += scratch[threadIdx.x + k]; __syncthreads(); }
    s = scratch[0];
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(long long)blockIdx.x * cols + i] = expf(row[i] - m) / s;
}
extern "C" __global__ void layer_norm(const float *x, float *y, const float *g, const float *b, int cols) {
    const float *row = x + blockIdx.x * cols;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < cols; i += 32) s += row[i], q += row[i] * row[i];
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d), q += __shfl_xor_sync(~0u, q, d);
    float mean = s / cols, inv = rsqrtf(q / cols - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = (row[i] - mean) * inv * g[i] + b[i];
}
extern "C" __global__ void stencil(const double *x, double *y, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= w - 1 || j >= h - 1) return;
    y[j * w + i] = 0.25 * (x[j * w + i - 1] + x[j * w + i + 1] + x[(j - 1) * w + i] + x[(j + 1) * w + i]);
}
extern "C" __global__ void transpose(const float *x, float *y, int w, int h) {
    __shared__ float tile[32][33];
    int i = blockIdx.x * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) { int j = blockIdx.y * 32 + k; if (i < w && j < h) tile[k][threadIdx.x] = x[j * w + i]; }
    __syncthreads();
    int j = blockIdx.y * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) { int c = blockIdx.x * 32 + k; if (j < h && c < w) y[c * h + j] = tile[threadIdx.x][k]; }
}
extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
