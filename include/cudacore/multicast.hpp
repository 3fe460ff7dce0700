// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cudacore/device.hpp>

namespace cudacore {

/// What the sizes of memory that several devices write at once are multiples of
/// (cuMulticastGetGranularity).
/// @param device one of those that take part
/// @param devices how many devices take part, at least 1
/// @param is_recommended whether to ask for what works best, or for the least
/// @throw NotSupportedError if the device's property multicast_supported is false, without a call
/// of the driver.
/// @throw std::invalid_argument if no device takes part.
[[nodiscard]] std::size_t multicast_granularity(Device device, unsigned devices,
                                                bool is_recommended = true);

}  // namespace cudacore
