extern "C" __global__ void axpy_f64(const double *__restrict__ X, const double *__restrict__ Z, double *__restrict__ Y,
                                    int pairs) {
    const int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at >= pairs) return;
    const double2 x = reinterpret_cast<const double2 *>(X)[at];
    const double2 z = reinterpret_cast<const double2 *>(Z)[at];
    reinterpret_cast<double2 *>(Y)[at] = make_double2(x.x / 3.0 + x.x * z.x, x.y / 3.0 + x.y * z.y);
}
