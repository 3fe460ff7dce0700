// SPDX-License-Identifier: Apache-2.0
// launch: block=128 output=128 targets=sm_80,sm_90
#include <cuda/barrier>
#include <cuda/std/utility>

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier barrier;
  __shared__ unsigned words[128];
  if (threadIdx.x == 0) init(&barrier, 128);
  __syncthreads();
  unsigned value = in[threadIdx.x];
  for (int round = 0; round < 6; ++round) {
    words[threadIdx.x] = value;
    barrier.arrive_and_wait();
    value = value * 3 + words[(threadIdx.x + 33) % 128];
    auto token = barrier.arrive();
    value ^= 5;
    barrier.wait(cuda::std::move(token));
  }
  out[threadIdx.x] = value;
}
