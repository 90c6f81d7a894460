extern "C" __global__ void convert_f32(const float *X, int *NEAREST, int *ZERO, int *UP, int *DOWN, unsigned char *BYTE,
                                       __half *HALF, __nv_bfloat16 *BRAIN, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = X[i];
    NEAREST[i] = __float2int_rn(x);
    ZERO[i] = __float2int_rz(x);
    UP[i] = __float2int_ru(x);
    DOWN[i] = __float2int_rd(x);
    unsigned saturated;
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(saturated) : "f"(x));
    BYTE[i] = (unsigned char)saturated;
    HALF[i] = __float2half_rn(x * 300.0f);
    BRAIN[i] = __float2bfloat16_rn(x);
}
