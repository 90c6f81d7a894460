extern "C" __global__ void silu_f16(const X_T *X, Y_T *Y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = __half2float(X[i]);
    Y[i] = __float2half_rn(x / (1.0f + expf(-x)));
}
