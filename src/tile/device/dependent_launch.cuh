// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programmatic dependent launch: a kernel may start before the one in front of it has ended.

namespace cudacore_tile {

__device__ __forceinline__ void grid_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
__device__ __forceinline__ void grid_launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

}  // namespace cudacore_tile
