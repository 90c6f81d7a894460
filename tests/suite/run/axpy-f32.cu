// Four elements a load, the rest one by one; the grid is fixed, so each thread strides over the array.
extern "C" __global__ void axpy_f32(const X_T *X, const Z_T *Z, Y_T *Y, int n) {
    const int threads = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int quads = n / 4;
    for (int q = first; q < quads; q += threads) {
        const float4 x = reinterpret_cast<const float4 *>(X)[q];
        const float4 z = reinterpret_cast<const float4 *>(Z)[q];
        reinterpret_cast<float4 *>(Y)[q] =
            make_float4(3 * x.x + z.x, 3 * x.y + z.y, 3 * x.z + z.z, 3 * x.w + z.w);
    }
    for (int i = 4 * quads + first; i < n; i += threads) {
        Y[i] = 3 * X[i] + Z[i];
    }
}
