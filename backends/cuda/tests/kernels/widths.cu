extern "C" __global__ void widths(C_T *C, signed char a, short b, int c, long long d) {
    if (threadIdx.x == 0) {
        C[0] = static_cast<ELEMENT>(a);
        C[1] = static_cast<ELEMENT>(b);
        C[2] = static_cast<ELEMENT>(c);
        C[3] = static_cast<ELEMENT>(d);
    }
}
