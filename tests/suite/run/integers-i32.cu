extern "C" __global__ void integers_i32(const int *A, const int *B, int *Y, unsigned *Z, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int a = A[i], b = B[i];
    int y = a / b + a % b - (a >> 5) + __mulhi(a, b) + a / 7 - a % 10;
    y ^= __clz(a) << 8 | __ffs(b) << 4 | __popc(a ^ b);
    Y[i] = y;
    const unsigned u = (unsigned)a;
    unsigned z = u / (unsigned)b + u % 1000u + (u >> 3) + __umulhi(u, 0x9E3779B9u);
    z ^= __brev(u) + __funnelshift_l(u, (unsigned)b, i & 31) + __byte_perm(u, (unsigned)b, 0x5140);
    Z[i] = z + __sad(a, b, u) + __usad(u, (unsigned)b, 1u) + __uhadd(u, (unsigned)b) + (unsigned)min(max(a, -b), b);
}
