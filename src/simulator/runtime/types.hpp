// SPDX-License-Identifier: Apache-2.0
//
// The runtime's structs and enums that are not simply the driver's with another name, in CUDA's
// layout.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>

#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

enum class MemcpyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, any };

enum class MemoryType : int { unregistered, host, device, managed };

struct Extent {  // cudaExtent
  std::size_t width;
  std::size_t height;
  std::size_t depth;
};

struct Position {  // cudaPos
  std::size_t x;
  std::size_t y;
  std::size_t z;
};

struct PitchedPointer {  // cudaPitchedPtr
  void* pointer;
  std::size_t pitch;
  std::size_t width;
  std::size_t height;
};

struct Copy3D {  // cudaMemcpy3DParms
  CUarray source_array;
  Position source_position;
  PitchedPointer source;
  CUarray target_array;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  MemcpyKind kind;
};

struct PeerCopy3D {  // cudaMemcpy3DPeerParms
  CUarray source_array;
  Position source_position;
  PitchedPointer source;
  int source_device;
  CUarray target_array;
  Position target_position;
  PitchedPointer target;
  int target_device;
  Extent extent;
};

struct PointerAttributes {  // cudaPointerAttributes of 12; that of 13 goes on, with what is
                            // reserved
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

struct FunctionAttributes {  // cudaFuncAttributes
  std::size_t shared_size;
  std::size_t constant_size;
  std::size_t local_size;
  int max_threads_per_block;
  int registers;
  int ptx_version;
  int binary_version;
  int cache_mode_ca;
  int max_dynamic_shared_size;
  int preferred_shared_carveout;
  int cluster_must_be_set;
  int cluster_width;
  int cluster_height;
  int cluster_depth;
  int cluster_scheduling;
  int non_portable_cluster_allowed;
  int reserved[16];
};

struct LaunchConfiguration {  // cudaLaunchConfig_t
  Dim3 grid;
  Dim3 block;
  std::size_t shared_memory;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attribute_count;
};

[[nodiscard]] inline CUlaunchConfig driver_configuration(const LaunchConfiguration& how) {
  return {how.grid.x,
          how.grid.y,
          how.grid.z,
          how.block.x,
          how.block.y,
          how.block.z,
          static_cast<unsigned>(std::min<std::size_t>(how.shared_memory, UINT_MAX)),
          how.stream,
          how.attributes,
          how.attribute_count};
}

struct ChannelFormat {  // cudaChannelFormatDesc
  int x;
  int y;
  int z;
  int w;
  int kind;
};

}  // namespace cudacore::runtime
