extern "C" __global__ void stencil(const double *X, double *Y, int d, int m, int n) {
    const int j = blockIdx.x * BLOCK_X + threadIdx.x, i = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (i >= m || j >= n) return;
    const int plane = m * n, at = i * n + j;
    const bool border = i == 0 || j == 0 || i == m - 1 || j == n - 1;
    double below = 0, here = X[at], above = X[plane + at];
    Y[at] = 0;
    for (int k = 1; k < d - 1; ++k) {
        below = here;
        here = above;
        above = X[(k + 1) * plane + at];
        const double *x = X + k * plane + at;
        Y[k * plane + at] = border ? 0 : below + above + x[-n] + x[n] + x[-1] + x[1] - 6 * here;
    }
    Y[(d - 1) * plane + at] = 0;
}
