// C = A x B, row-major: tiles of 16 x 16 staged through shared memory, guarded at the edges.
#define TILE 16

extern "C" __global__ void matmul(const float *A, const float *B, float *C, int n) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE + 1];
    const int i = blockIdx.y * TILE + threadIdx.y;
    const int j = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        const int ka = k0 + threadIdx.x;
        const int kb = k0 + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = i < n && ka < n ? A[i * n + ka] : 0.0f;
        b[threadIdx.y][threadIdx.x] = kb < n && j < n ? B[kb * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (i < n && j < n) {
        C[i * n + j] = sum;
    }
}
