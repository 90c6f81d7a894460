extern "C" __global__ void sum_parts(const X_T *X, partial_T *partial, int n) {
    __shared__ float own[BLOCK];
    float sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += PARTS * BLOCK) sum += X[i];
    own[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = own[0];
}

extern "C" __global__ void sum_rest(const partial_T *partial, Y_T *Y) {
    if (threadIdx.x > 0) return;
    float sum = 0;
    for (int part = 0; part < PARTS; ++part) sum += partial[part];
    Y[0] = sum;
}
