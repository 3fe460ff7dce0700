// SPDX-License-Identifier: Apache-2.0
// launch: grid=8 block=64 cooperative=1 output=512
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned scratch[512];

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  auto grid = cg::this_grid();
  const unsigned i = static_cast<unsigned>(grid.thread_rank());
  scratch[i] = in[i];
  for (int round = 0; round < 4; ++round) {
    grid.sync();
    const unsigned other = scratch[(i * 7 + 64) % 512];
    grid.sync();
    scratch[i] = scratch[i] * 3 + other;
  }
  out[i] = scratch[i];
}
