struct Found { float value; int place; };

__device__ Found better(Found a, Found b) {
    return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
}

__device__ Found of_warp(Found own) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        const Found other = {__shfl_down_sync(0xFFFFFFFFu, own.value, offset),
                             __shfl_down_sync(0xFFFFFFFFu, own.place, offset)};
        own = better(own, other);
    }
    return own;
}

extern "C" __global__ void argmax(const float *X, float *LARGEST, int *PLACE, int n) {
    __shared__ Found warps[BLOCK / 32];
    Found own = {__int_as_float(0xFF800000), 0x7FFFFFFF};
    for (int k = threadIdx.x; k < n; k += BLOCK) own = better(own, {X[blockIdx.x * n + k], k});
    own = of_warp(own);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < BLOCK / 32; ++warp) own = better(own, warps[warp]);
        LARGEST[blockIdx.x] = own.value;
        PLACE[blockIdx.x] = own.place;
    }
}
