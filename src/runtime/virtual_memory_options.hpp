// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cudacore/virtual_memory_resource.hpp"
#include "driver/driver_api.hpp"

// What the options of virtual memory mean to the driver.

namespace cudacore {

[[nodiscard]] inline bool is_on_device(const VirtualMemoryResourceOptions& options) {
  return options.location_type == VirtualLocation::device;
}

[[nodiscard]] CUmemAllocationProp allocation_properties(const VirtualMemoryResourceOptions& options,
                                                        Device device);

/// @throw NotSupportedError, std::invalid_argument
void check_virtual_options(const VirtualMemoryResourceOptions& options, Device device);

/// Who may access memory; `before` are options whose access is taken away where these give none.
[[nodiscard]] std::vector<CUmemAccessDesc> access_entries(
    const VirtualMemoryResourceOptions& options, Device device,
    const VirtualMemoryResourceOptions* before = nullptr);

}  // namespace cudacore
