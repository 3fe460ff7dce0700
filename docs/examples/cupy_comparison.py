# SPDX-License-Identifier: Apache-2.0
"""CuPy: one kernel, one pair of arrays, launched by CuPy and by cudacore, and timed."""

import cudacore
import cupy as cp
import numpy as np

SOURCE = """
extern "C" __global__ void axpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
theirs = cp.RawKernel(SOURCE, "axpy")
ours = cudacore.Program(SOURCE, "c++").compile().get_kernel("axpy")

n, block = 10_000, 256
grid = -(-n // block)
x = cp.arange(n, dtype="float32")
y = cp.zeros(n, "float32")

# CuPy takes a Python number as 64 bits, whatever the kernel's type: it must be told.
theirs((grid,), (block,), (np.int32(n), np.float32(2), x, y))
# cudacore reads the type from the kernel. CuPy's arrays are arguments as they are.
ours[grid, block](n, 3, x, y)
np.testing.assert_array_equal(y.get(), 5 * np.arange(n, dtype="float32"))
print("both launches agree with NumPy")

# Times of the device and of the host, with the same arrays and the same work.
launcher = ours[grid, block]
numbers = np.int32(n), np.float32(0)
print(
    cudacore.benchmark(
        {
            "CuPy": lambda: theirs((grid,), (block,), (*numbers, x, y)),
            "cudacore": lambda: launcher(n, 0, x, y),
        },
        bytes=3 * 4 * n,
    )
)
