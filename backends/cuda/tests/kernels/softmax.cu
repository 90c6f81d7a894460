// Softmax of each row of n elements: one block a row, its partial results in dynamic shared memory.
extern "C" __global__ void softmax(const float *X, float *Y, int n) {
    extern __shared__ float scratch[];
    const float *x = X + (size_t)blockIdx.x * n;
    float *y = Y + (size_t)blockIdx.x * n;
    float largest = __int_as_float(0xff800000);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        largest = fmaxf(largest, x[i]);
    }
    scratch[threadIdx.x] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
        }
        __syncthreads();
    }
    largest = scratch[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += expf(x[i] - largest);
    }
    scratch[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            scratch[threadIdx.x] += scratch[threadIdx.x + half];
        }
        __syncthreads();
    }
    sum = scratch[0];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        y[i] = expf(x[i] - largest) / sum;
    }
}
