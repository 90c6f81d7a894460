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
extern "C" __global__ void by_value(Numbers v, int *out) { out[threadIdx.x] = v.n[threadIdx.x % 6]; }
