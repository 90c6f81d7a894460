#include <cuda_fp16.h>

extern "C" __global__ void matmul_naive(const float *A, const float *B, float *C, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= n || c >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[r * n + k] * B[k * n + c];
    C[r * n + c] = sum;
}
extern "C" __global__ void matmul_tiled(const float *A, const float *B, float *C, int n) {
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * 16 + x, r = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        a[y][x] = r < n && t + x < n ? A[r * n + t + x] : 0;
        b[y][x] = t + y < n && c < n ? B[(t + y) * n + c] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (r < n && c < n) C[r * n + c] = sum;
}
// 64x64 tiles, 4x4 a thread, 256 threads; n is a multiple of 64.
extern "C" __global__ void matmul_simt(const float *A, const float *B, float *C, int n) {
    __shared__ __align__(16) float a[8][64], b[8][64];
    int t = threadIdx.x, tx = t % 16 * 4, ty = t / 16 * 4;
    float acc[4][4] = {};
    const float *pa = A + blockIdx.y * 64 * n, *pb = B + blockIdx.x * 64;
    for (int k0 = 0; k0 < n; k0 += 8) {
        if (t < 128) {
            float4 v = *(const float4 *)(pa + t / 2 * n + k0 + t % 2 * 4);
            a[t % 2 * 4][t / 2] = v.x, a[t % 2 * 4 + 1][t / 2] = v.y, a[t % 2 * 4 + 2][t / 2] = v.z, a[t % 2 * 4 + 3][t / 2] = v.w;
        } else {
            int s = t - 128;
            *(float4 *)&b[s / 16][s % 16 * 4] = *(const float4 *)(pb + (k0 + s / 16) * n + s % 16 * 4);
        }
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            float4 u = *(float4 *)&a[k][ty], v = *(float4 *)&b[k][tx];
            float p[4] = {u.x, u.y, u.z, u.w}, q[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) acc[i][j] += p[i] * q[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)(C + (blockIdx.y * 64 + ty + i) * n + blockIdx.x * 64 + tx) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}
extern "C" __global__ void matmul_f16(const __half *A, const __half *B, __half *C, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= n || c >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += __half2float(A[r * n + k]) * __half2float(B[k * n + c]);
    C[r * n + c] = __float2half(sum);
}
