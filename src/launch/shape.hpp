// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/launch.hpp"
#include "launch/kernel_box.hpp"

namespace cudacore::launching {

/// Compares the shape with the limits of the device and the kernel.
/// @throw std::invalid_argument that names the limit; NotSupportedError for clusters and
/// cooperative launches if the device lacks them.
void check_shape(const LaunchConfig& config, const error::ContextBox& context,
                 const KernelOnDevice& state, const KernelBox& kernel);

/// The most dynamic shared memory that a block of the kernel can have, opted in.
[[nodiscard]] std::size_t most_dynamic_shared_memory(const error::DeviceLimits& limits,
                                                     const KernelOnDevice& state) noexcept;

}  // namespace cudacore::launching
