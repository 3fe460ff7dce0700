# SPDX-License-Identifier: Apache-2.0
"""Histogram: each block counts in shared memory, and adds its counts to everyone's at the end."""

import matplotlib.pyplot as plt
import numpy as np
from cudacore import Device, Program

SOURCE = """
__global__ void histogram(const unsigned char* values, size_t n, unsigned* counts) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();

  // Only threads of the same block compete for these counters, and shared memory is fast.
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[values[i]], 1);
  __syncthreads();

  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], mine[i]);
}
"""
histogram = Program(SOURCE, "c++").compile().get_kernel("histogram")

# The brightness of a picture of something dark before something bright.
n = 2_000_000
rng = np.random.default_rng(0)
dark, bright = rng.normal(80, 20, n), rng.normal(165, 15, n)
values = np.where(rng.random(n) < 0.6, dark, bright).clip(0, 255).astype("uint8")

device = Device()
counts = device.allocate(256 * 4)
counts.fill(0)
histogram[64, 256](device.to_device(values), n, counts)

result = counts.to_host("uint32")
np.testing.assert_array_equal(result, np.bincount(values, minlength=256))
print(f"{n:,} values: the counts agree with NumPy; the most frequent is {result.argmax()}")

plt.figure(figsize=(6, 3), layout="constrained")
plt.stairs(result, range(257), fill=True)
plt.xlabel("value")
plt.ylabel("count")
plt.savefig("histogram.png")
