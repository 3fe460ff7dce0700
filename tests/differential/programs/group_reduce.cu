// SPDX-License-Identifier: Apache-2.0
// launch: block=128 output=256
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int value = static_cast<int>(in[threadIdx.x] % 1000) - 500;
  out[threadIdx.x] = static_cast<unsigned>(cg::reduce(tile, value, cg::plus<int>()));
  out[128 + threadIdx.x] = static_cast<unsigned>(cg::reduce(tile, value, cg::less<int>())) +
                           static_cast<unsigned>(cg::inclusive_scan(tile, value, cg::plus<int>()));
}
