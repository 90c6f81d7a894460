extern "C" __global__ void add(const A_T *A, const B_T *B, C_T *C, int n) {
    __shared__ ELEMENT staged[SHARED_ELEMENTS];
    const int i = blockIdx.x * BLOCK_X + threadIdx.x;
    staged[threadIdx.x] = i < n ? A[i] : static_cast<ELEMENT>(0);
    __syncthreads();
    if (i < n) {
        C[i] = staged[SHARED_ELEMENTS - 1 - threadIdx.x] + B[i] + staged[threadIdx.x];
    }
}
