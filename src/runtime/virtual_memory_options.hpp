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

/// Who may access memory.
[[nodiscard]] std::vector<CUmemAccessDesc> access_entries(
    const VirtualMemoryResourceOptions& options, Device device);
/// The entries that give the access of `after`, and take away what only `before` gives.
[[nodiscard]] std::vector<CUmemAccessDesc> access_changes(
    const std::vector<CUmemAccessDesc>& before, const std::vector<CUmemAccessDesc>& after);

}  // namespace cudacore
