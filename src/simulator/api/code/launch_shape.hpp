// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/api/code/function_attributes.hpp"

namespace cudacore::simulator {

/// What a launch requests, except its function and parameters.
struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  std::optional<Dim3> cluster;
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  CUstream stream = nullptr;
  CUevent event = nullptr;  ///< recorded after it, as programs let it be triggered
  unsigned event_flags = 0;
  CUevent completion_event = nullptr;  ///< recorded after it as well
  unsigned completion_flags = 0;
};

/// Reads a configuration and its attributes. INVALID_VALUE or NOT_SUPPORTED if it is impossible.
CUresult read_shape(const CUlaunchConfig& config, LaunchShape& shape);

/// Applies a kernel's directives to a shape: replaces a block of one thread by the block that
/// .reqntid requires and, if .blocksareclusters makes the grid count clusters, the number of
/// clusters by the number of blocks.
void apply_directives(const Function& entry, LaunchShape& shape) noexcept;

/// Whether a kernel can be launched this way; if not, returns the driver's code. Applies the
/// kernel's directives, and sets the cluster that it requires and how many blocks may be in
/// progress at once.
CUresult check_shape(const FunctionOnDevice& function, LaunchShape& shape,
                     std::uint32_t& resident_blocks);

/// The cluster of a shape, or the one that the kernel requires; 1, 1, 1 for none.
CUresult find_cluster(const FunctionOnDevice& function, const LaunchShape& shape, Dim3& cluster);

}  // namespace cudacore::simulator
