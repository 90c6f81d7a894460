extern "C" __global__ void broadcast_f32(const float *X, float *Y, int n) {
    __shared__ float words[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    words[threadIdx.x] = X[i];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 256; ++k) sum += words[k];
    Y[i] = sum;
}
