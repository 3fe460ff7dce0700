# SPDX-License-Identifier: Apache-2.0
"""saxpy from a new process to a printed result: CuPy."""

import cupy
import numpy as np

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""

kernel = cupy.RawKernel(SOURCE, "saxpy")
host = np.ones(1024, dtype=np.float32)
x = cupy.asarray(host)
y = cupy.asarray(host)
kernel((8,), (128,), (np.float32(2.0), x, y, np.int32(1024)))
host = cupy.asnumpy(y)
print(host[0], host[-1])
