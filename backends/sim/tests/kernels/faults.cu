__device__ __noinline__ int endless(int n) { return n == -1 ? 1 : endless(n + 1) * n + endless(n ^ 5); }

extern "C" __global__ void past_end(float *A, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    A[i + n] = 1.0f;
}
extern "C" __global__ void misaligned(char *A) {
    if (threadIdx.x == 5) *(int *)(A + 6) = 1;
}
extern "C" __global__ void null_read(int *A) { A[0] = *(volatile int *)8; }
extern "C" __global__ void shared_past_end(int *A) {
    __shared__ int s[64];
    s[threadIdx.x] = A[0];
    __syncthreads();
    A[0] = s[threadIdx.x + A[1]];
}
extern "C" __global__ void loops(volatile int *A) { while (A[0] == 0) {} }
extern "C" __global__ void loops_quietly(int *A, int k) { unsigned x = k; do { x = x * 5 + 1; } while (x != k + 0x7fffffffu || k); A[0] = x; }
extern "C" __global__ void recurses(int *A) { A[0] = endless(A[0]); }
extern "C" __global__ void deadlocks(int *A) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;");
    A[0] = 1;
}
extern "C" __global__ void lane_never_comes(int *A) {
    if (threadIdx.x < 16) A[threadIdx.x] = __shfl_sync(~0u, A[threadIdx.x], 0);
    else asm volatile("bar.sync 0;");
}
extern "C" __global__ void traps(int *A) { if (A[0] == 0) __trap(); }
