// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cudacore/memory_location.hpp"
#include "driver/driver_api.hpp"

namespace cudacore {

/// A location as the driver takes it.
/// @throw std::invalid_argument if there is no such device, or if the NUMA node is negative.
[[nodiscard]] CUmemLocation to_driver(const MemoryLocation& location);

/// What the driver says; unset for no location.
[[nodiscard]] std::optional<MemoryLocation> from_driver(CUmemLocationType type, int id) noexcept;

}  // namespace cudacore
