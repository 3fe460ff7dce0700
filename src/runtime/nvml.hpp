// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudacore::system {

/// What NVML's functions take and answer: a number or a handle, a text, or several values.
struct NvmlValue {
  std::variant<std::uint64_t, std::int64_t, double, std::string, std::vector<NvmlValue>> of;
};

/// Calls a function of NVML.
/// @param arguments what it takes, in order: not the places for its answers, nor sizes of those. A
/// structure that it reads stands for the fields that the caller sets.
/// @return What it answers; several answers, or none, are a list. So is a structure.
/// @throw NvmlError if it fails, or if the driver is too old to have it; std::invalid_argument for
/// the name of another function, or arguments that it doesn't take.
[[nodiscard]] NvmlValue ask_nvml(std::string_view function,
                                 const std::vector<NvmlValue>& arguments);

}  // namespace cudacore::system
