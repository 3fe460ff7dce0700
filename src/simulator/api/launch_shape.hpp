// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/api/function_attributes.hpp"

namespace cudacore::simulator {

/// What a launch asks for, but its function and parameters.
struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  std::optional<Dim3> cluster;
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  CUstream stream = nullptr;
  CUevent event = nullptr;  ///< recorded behind it
  unsigned event_flags = 0;
};

/// Reads a configuration and its attributes. INVALID_VALUE or NOT_SUPPORTED for what it can't be.
CUresult read_shape(const CUlaunchConfig& config, LaunchShape& shape);

/// What a shape means to a kernel: for a block of one thread, the block that .reqntid asks for; for
/// a number of clusters, where .blocksareclusters has the grid count these, the number of blocks.
void apply_directives(const Function& entry, LaunchShape& shape) noexcept;

/// Whether a kernel can be launched so, with the code that the driver gives where it can't; applies
/// its directives, fills in the cluster that it requires, and how many blocks may be in progress at
/// once.
CUresult check_shape(const FunctionOnDevice& function, LaunchShape& shape,
                     std::uint32_t& resident_blocks);

/// The cluster of a shape, or what the kernel requires; 1, 1, 1 for none.
CUresult find_cluster(const FunctionOnDevice& function, const LaunchShape& shape, Dim3& cluster);

}  // namespace cudacore::simulator
