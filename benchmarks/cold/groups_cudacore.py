# SPDX-License-Identifier: Apache-2.0
"""A kernel with cooperative groups, from a new process to a printed result: cudacore.

With a path as its argument, it also writes the cubin there.
"""

import sys
from array import array
from pathlib import Path

from cudacore import Device, Program

SOURCE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sum(int* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int total = cg::reduce(warp, int(threadIdx.x), cg::plus<int>());
  if (threadIdx.x == 0) *out = total;
}
"""

device = Device(0)
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++").compile()
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_bytes(code.code)
host = array("i", [0])
out = device.allocate(host.itemsize, stream=stream)
code.get_kernel("sum")[1, 32, stream](out)
out.copy_to(host, stream=stream)
stream.sync()
print(host[0])
