// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text that takes several calls of printf, which those of other blocks must not come between.

namespace cudacore_tile {

static __device__ int printing = 0;

__device__ __forceinline__ void begin_print() {
  if (threadIdx.x == 0)
    while (atomicCAS(&printing, 0, 1) != 0) {
    }
}
__device__ __forceinline__ void end_print() {
  __threadfence();
  if (threadIdx.x == 0) atomicExch(&printing, 0);
}

}  // namespace cudacore_tile
