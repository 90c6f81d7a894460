#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void axpy_f32(const float *x, float *y, float a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void axpy_f64(const double *x, double *y, double a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void axpy_f16(const __half2 *x, __half2 *y, __half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}
extern "C" __global__ void axpy_bf16(const __nv_bfloat16 *x, __nv_bfloat16 *y, __nv_bfloat16 a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(a, x[i], y[i]);
}
extern "C" __global__ void gelu(const float4 *x, float4 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    float *p = &v.x;
    for (int k = 0; k < 4; k++) p[k] = 0.5f * p[k] * (1.0f + tanhf(0.7978845608f * (p[k] + 0.044715f * p[k] * p[k] * p[k])));
    y[i] = v;
}
extern "C" __global__ void integers(const int *a, const unsigned long long *b, int *c, unsigned char *d, short *e, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = a[i] / (i + 1) + a[i] % 7 - (a[i] >> 3) + __popc(a[i]) + __clz(a[i]) + __ffs(a[i]) + (int)(b[i] / 1000003ull) + (int)(b[i] % 97ull);
    d[i] = (unsigned char)(a[i] + i);
    e[i] = (short)(a[i] * 3 - e[i]);
}
extern "C" __global__ void functions(const float *x, float *y, const double *u, double *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = expf(x[i]) + logf(fabsf(x[i]) + 1.0f) + sinf(x[i] * 100.0f) + cosf(x[i]) + sqrtf(fabsf(x[i])) + rsqrtf(fabsf(x[i]) + 1.0f) + powf(fabsf(x[i]), 1.5f) + x[i] / 3.0f;
    v[i] = exp(u[i]) + log(fabs(u[i]) + 1.0) + sin(u[i] * 1e6) + cos(u[i]) + sqrt(fabs(u[i])) + pow(fabs(u[i]), 1.5) + u[i] / 3.0;
}
