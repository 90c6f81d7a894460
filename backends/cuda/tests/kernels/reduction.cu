// The sum of A: lanes by shuffles, warps through shared memory, blocks by an atomic addition.
extern "C" __global__ void reduce(const float *A, float *SUM, int n) {
    __shared__ float partial[32];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += A[i];
    }
    for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int step = 16; step > 0; step >>= 1) {
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        }
        if (threadIdx.x == 0) {
            atomicAdd(SUM, sum);
        }
    }
}
