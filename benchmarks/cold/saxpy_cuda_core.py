# SPDX-License-Identifier: Apache-2.0
"""saxpy from a new process to a printed result: cuda.core."""

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""

device = Device(0)
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}")
kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("saxpy")

count = 1024
pinned = LegacyPinnedMemoryResource().allocate(4 * count)
host = np.from_dlpack(pinned).view(np.float32)
host[:] = 1.0
x = device.allocate(4 * count, stream=stream)
y = device.allocate(4 * count, stream=stream)
x.copy_from(pinned, stream=stream)
y.copy_from(pinned, stream=stream)
config = LaunchConfig(grid=8, block=128)
launch(stream, config, kernel, np.float32(2.0), x, y, np.int32(count))
y.copy_to(pinned, stream=stream)
stream.sync()
print(host[0], host[-1])
