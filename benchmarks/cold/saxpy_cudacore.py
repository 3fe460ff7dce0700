# SPDX-License-Identifier: Apache-2.0
"""saxpy from a new process to a printed result: cudacore."""

from array import array

from cudacore import Device, LaunchConfig, Program, ProgramOptions, launch

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

host = array("f", [1.0]) * 1024
size = len(host) * host.itemsize
x = device.allocate(size, stream=stream)
y = device.allocate(size, stream=stream)
x.copy_from(host, stream=stream)
y.copy_from(host, stream=stream)
launch(stream, LaunchConfig(grid=8, block=128), kernel, 2.0, x, y, len(host))
y.copy_to(host, stream=stream)
stream.sync()
print(host[0], host[-1])
