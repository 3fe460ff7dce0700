# SPDX-License-Identifier: Apache-2.0
"""saxpy: compile a kernel, give it two arrays, and read the result."""

import numpy as np
from cudacore import Device, Program

SOURCE = """
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
saxpy = Program(SOURCE, "c++").compile().get_kernel("saxpy")

n = 1_000_003  # not a whole number of blocks: the kernel leaves out the excess threads
rng = np.random.default_rng(0)
x, y = rng.random((2, n), "float32")

device = Device()
d_x, d_y = device.to_device(x), device.to_device(y)

# One thread for each element, in blocks of 256. The 2.0 becomes a float, as the kernel declares.
saxpy[-(-n // 256), 256](n, 2.0, d_x, d_y)

result = d_y.to_host("float32")  # waits for the kernel
np.testing.assert_allclose(result, 2 * x + y, rtol=1e-6)
print(f"{saxpy.signature}: {n:,} elements agree with NumPy on {device.name}")
