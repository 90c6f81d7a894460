__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ float sum_of(const float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
struct Pair { float a; int b; };
__device__ __noinline__ Pair swap_of(Pair p) { Pair q; q.a = p.b; q.b = (int)p.a; return q; }
__constant__ int table[8] = {1, 1, 2, 3, 5, 8, 13, 21};
__device__ int counter = 40;
__device__ int *where = &counter;
struct Numbers { int n[6]; };

extern "C" __global__ void calls(int *out, float *f, int k) {
    int t = threadIdx.x;
    out[t] = fibonacci(t % 12) + table[(t + k) % 8];
    float local[16];
    for (int i = 0; i < 16; i++) local[(i * 7 + k) % 16] = i * t;
    Pair p; p.a = t; p.b = k;
    p = swap_of(p);
    f[t] = sum_of(local, 16) + local[t % 16] + p.a * 1000 + p.b;
    atomicAdd(where, 1);
    __syncthreads();
    if (t == 0) out[0] = counter;
}
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char *, const char *, unsigned, const char *, size_t);
extern "C" __global__ void cases(int *x, int k) {
    int v = x[threadIdx.x];
    switch (v % 9) {
    case 0: v *= 3; break;
    case 1: v = x[(threadIdx.x + 1) % 32] ^ 5; break;
    case 2: v = v / 7 + k; break;
    case 3: x[threadIdx.x + 32] = v; break;
    case 4: v = __popc(v) << 4; break;
    case 5: v -= 100; break;
    case 6: if (k == 99) __assertfail("k", "calls.cu", 1, "cases", 1); v = -v; break;
    case 7: v = v * v + k; break;
    }
    x[threadIdx.x + 64] = v;
}
extern "C" __global__ void by_value(Numbers v, int *out) { out[threadIdx.x] = v.n[threadIdx.x % 6]; }
