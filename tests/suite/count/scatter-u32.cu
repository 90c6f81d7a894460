extern "C" __global__ void scatter_u32(unsigned *COUNTS, unsigned *PLACES, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    PLACES[i] = atomicAdd(&COUNTS[(i * 8) % 1024], (unsigned)i);
}
