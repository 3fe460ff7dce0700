# SPDX-License-Identifier: Apache-2.0
"""The translation of tile kernels to CUDA C++, run on the device."""

import numpy as np
import pytest
from cudacore import Device, LaunchConfig, Program, ProgramOptions, _tile, launch


def run(text, *arguments, grid=1, arch=None):
    """Launch a kernel; arrays are copied to the device and back."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    generated = _tile.generate(text, arch=arch or 80)
    options = ProgramOptions(arch=f"sm_{arch or 80}", headers=_tile.headers())
    kernel = Program(generated.source, "c++", options).compile("ptx").get_kernel(generated.entry)
    passed = []
    buffers = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            buffer = device.allocate(max(argument.nbytes, 1), stream=stream)
            buffer.copy_from(
                np.ascontiguousarray(argument).view(np.uint8).reshape(-1), stream=stream
            )
            buffers.append((argument, buffer))
            passed.append(buffer)
        else:
            passed.append(argument)
    config = LaunchConfig(grid=grid, block=generated.threads, shmem_size=generated.shared_bytes)
    launch(stream, config, kernel, *passed)
    for array, buffer in buffers:
        array[...] = buffer.to_host(np.uint8, stream=stream).view(array.dtype).reshape(array.shape)
    stream.sync()
    return generated


AXPY = """tile 1
file 0 "/home/me/axpy.py"
kernel "axpy" {
  param %0 : ptr<f32> {align = 16}
  param %1 : ptr<f32> {align = 16}
  param %2 : i32
  param %3 : f32
  %4 = bid {axis = 0} : i32 @0:12:8
  %5 = const {value = 1024} : i32
  %6 = mul %4, %5 : i32 @0:12:8
  %7 = load %0, origin(%6), shape(%2), strides(1) {pad = zero} : f32[1024] @0:13:8
  %8 = load %1, origin(%6), shape(%2), strides(1) {pad = zero} : f32[1024] @0:14:8
  %9 = broadcast %3 : f32[1024]
  %10 = mul %7, %9 : f32[1024] @0:15:8
  %11 = add %10, %8 : f32[1024] @0:15:8
  store %1, %11, origin(%6), shape(%2), strides(1) @0:16:8
  return
}
"""


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("count", [1, 1024, 2500])
def test_axpy(arch, count):
    x = np.arange(count, dtype=np.float32)
    y = np.ones(count, np.float32)
    run(AXPY, x, y, np.int32(count), np.float32(2), grid=-(-count // 1024), arch=arch)
    np.testing.assert_array_equal(y, 2 * x + 1)
