#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void sum_groups(const float *X, float *Y, int m) {
    const auto group = cg::tiled_partition<WIDTH>(cg::this_thread_block());
    const int row = blockIdx.x * (128 / WIDTH) + group.meta_group_rank();
    if (row >= m) return;
    float sum = 0;
    for (int k = group.thread_rank(); k < 16; k += group.size()) sum += X[row * 16 + k];
    sum = cg::reduce(group, sum, cg::plus<float>());
    if (group.thread_rank() == 0) Y[row] = sum;
}
