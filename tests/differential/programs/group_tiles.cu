// SPDX-License-Identifier: Apache-2.0
// launch: block=128 output=384
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const unsigned value = in[threadIdx.x] % 100;
  unsigned sum = value;
  for (unsigned step = 4; step != 0; step /= 2) sum += tile.shfl_xor(sum, step);
  out[threadIdx.x] = sum;
  out[128 + threadIdx.x] =
      tile.ballot(value & 1) + tile.meta_group_rank() * 1000 + tile.any(value > 95);
  unsigned rank = 0;
  if (value % 3 == 0) {
    auto some = cg::coalesced_threads();
    rank = some.thread_rank() * 100 + some.size();
  }
  block.sync();
  out[256 + threadIdx.x] = rank;
}
