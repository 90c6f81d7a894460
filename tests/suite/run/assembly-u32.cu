extern "C" __global__ void assembly(const unsigned *A, const unsigned *B, unsigned *FIELD, unsigned *LOGIC,
                                    unsigned *HIGH, unsigned *LOW, unsigned *LANE, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    const unsigned a = A[i], b = B[i];
    unsigned field, bits, logic, low, high, lane, place, shifted;
    asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"(a));
    asm("bfi.b32 %0, %1, %2, 20, 9;" : "=r"(bits) : "r"(a), "r"(b));
    FIELD[i] = field ^ bits;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(logic) : "r"(a), "r"(b), "r"(field));
    asm("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, %2;\n\t@p xor.b32 %0, %0, 0x5A5A5A5A;\n\t}" : "+r"(logic) : "r"(a), "r"(b));
    LOGIC[i] = logic;
    // A 64-bit sum of (a, b) and (b, a) by two halves with the carry between them.
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %3, %2;" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
    asm("mad.hi.u32 %0, %1, %2, %0;" : "+r"(high) : "r"(a), "r"(b));
    HIGH[i] = high;
    asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(place) : "r"(a), "r"(b));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(shifted) : "r"(a), "r"(b), "r"(i & 63));
    LOW[i] = low + place + shifted;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(b >> (i & 31)));
    LANE[i] = lane << 8 ^ place;
}
