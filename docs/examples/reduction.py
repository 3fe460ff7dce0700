# SPDX-License-Identifier: Apache-2.0
"""Reduction: the sum of an array, with warp shuffles and one kernel that runs twice."""

import numpy as np
from cudacore import Device, Program

SOURCE = """
constexpr int warp = 32;

__device__ float warp_sum(float value) {
  for (int distance = warp / 2; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffff, value, distance);
  return value;  // complete in lane 0
}

// Writes one sum for each block. The block has at most 32 warps, and only whole ones.
__global__ void sum(const float* values, size_t n, float* sums) {
  float mine = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += values[i];

  __shared__ float of_warp[warp];
  mine = warp_sum(mine);
  if (threadIdx.x % warp == 0) of_warp[threadIdx.x / warp] = mine;
  __syncthreads();

  if (threadIdx.x < warp) {
    mine = warp_sum(threadIdx.x < blockDim.x / warp ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = mine;
  }
}
"""
sum_kernel = Program(SOURCE, "c++").compile().get_kernel("sum")

n = 4_000_000
values = np.random.default_rng(0).random(n, "float32")

device = Device()
d_values = device.to_device(values)

# As many blocks as the device runs at once: each thread adds up its share before any thread waits.
block = 512
blocks = device.properties.multiprocessor_count
blocks *= sum_kernel.occupancy.max_active_blocks_per_multiprocessor(block, 0)
sums, total = device.allocate(4 * blocks), device.allocate(4)
sum_kernel[blocks, block](d_values, n, sums)
sum_kernel[1, block](sums, blocks, total)  # the same kernel adds the blocks' sums

result = total.to_host("float32")[0]
expected = values.sum(dtype="float64")
np.testing.assert_allclose(result, expected, rtol=1e-5)
print(f"{blocks} blocks: the sum of {n:,} elements is {result:.1f}, which agrees with NumPy")
