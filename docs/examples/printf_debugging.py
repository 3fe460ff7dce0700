# SPDX-License-Identifier: Apache-2.0
"""Debugging: the simulated device says where a kernel goes wrong, and printf shows why."""

import numpy as np
from cudacore import Device, LaunchError, Program, ProgramOptions, simulator

SOURCE = r"""
__global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int left = max(i - 1, 0), right = RIGHT;
  if (WATCHED) printf("block %d, thread %d: %d to %d of %d\n",
                      blockIdx.x, threadIdx.x, left, right, n);
  out[i] = (in[left] + in[i] + in[right]) / 3;
}
"""
# A GPU would probably read the element past the end and say nothing. The simulated device
# never does.
simulator.enable()

x = np.random.default_rng(0).random(1000, "float32")


def smooth(right: str, watched: str = "false") -> np.ndarray:
    macros = {"RIGHT": right, "WATCHED": watched}
    options = ProgramOptions(name="smooth.cu", lineinfo=True, define_macro=macros)
    kernel = Program(SOURCE, "c++", options).compile().get_kernel("smooth")
    device = Device()
    result = device.allocate(x.nbytes)
    kernel[4, 256](device.to_device(x), result, len(x))
    return result.to_host("float32")


# First try. The error names the line, the block and the thread: block 3, thread 231.
try:
    smooth("i + 1")
except LaunchError as error:
    print(error)
simulator.reset()  # without this, the device is lost for the rest of the process

# Second try: what does that thread do? It prints that it reads elements 998 to 1000 of 1000.
try:
    smooth("i + 1", "blockIdx.x == 3 && threadIdx.x == 231")
except LaunchError:
    simulator.reset()

# Third try, with the cure.
padded = np.pad(x, 1, "edge")
expected = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
np.testing.assert_allclose(smooth("min(i + 1, n - 1)"), expected, rtol=1e-6)
print("corrected: agrees with NumPy")
