__device__ unsigned char mixed(int a, int b, int w) { return (unsigned char)((a * w + b * (255 - w) + 127) / 255); }

extern "C" __global__ void blend_u8(const A_T *A, const B_T *B, const W_T *W, Y_T *Y, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * at >= n) return;
    const uchar4 a = reinterpret_cast<const uchar4 *>(A)[at];
    const uchar4 b = reinterpret_cast<const uchar4 *>(B)[at];
    const uchar4 w = reinterpret_cast<const uchar4 *>(W)[at];
    reinterpret_cast<uchar4 *>(Y)[at] =
        make_uchar4(mixed(a.x, b.x, w.x), mixed(a.y, b.y, w.y), mixed(a.z, b.z, w.z), mixed(a.w, b.w, w.w));
}
