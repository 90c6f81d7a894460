extern __shared__ float parts[];

template <typename Operation> __device__ float over_block(float value, Operation operation) {
    parts[threadIdx.x] = value;
    for (int half = BLOCK / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] = operation(parts[threadIdx.x], parts[threadIdx.x + half]);
    }
    __syncthreads();
    const float result = parts[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax_block(const __half *X, __half *Y, int n) {
    const __half *x = X + blockIdx.x * n;
    float largest = __half2float(x[0]);
    for (int k = threadIdx.x; k < n; k += BLOCK) largest = fmaxf(largest, __half2float(x[k]));
    largest = over_block(largest, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += BLOCK) sum += expf(__half2float(x[k]) - largest);
    sum = over_block(sum, [](float a, float b) { return a + b; });
    for (int k = threadIdx.x; k < n; k += BLOCK) {
        Y[blockIdx.x * n + k] = __float2half(expf(__half2float(x[k]) - largest) / sum);
    }
}
