extern "C" __global__ void uniform_f32(const float4 *X, float4 *Y, int n) {
    __shared__ float4 words[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    words[threadIdx.x] = X[(i / WIDTH) * WIDTH];
    __syncthreads();
    Y[i] = words[(127 - threadIdx.x) / WIDTH * WIDTH];
}
