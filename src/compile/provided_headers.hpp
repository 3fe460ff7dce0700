// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::compile {

/// What a compilation is given from memory.
struct Given {
  std::map<std::string, std::string> headers;  ///< by name
  std::vector<std::string> flags;
};

/// Adds what a failed compilation lacked and NVRTC can do, but has no declaration of: C's own
/// headers, and the device functions of programmatic dependent launch. Nothing is shadowed by it:
/// only what was found nowhere is added.
/// @return whether something was, so that another attempt makes sense.
[[nodiscard]] bool provide_missing(std::string_view log, Given& given);

/// C's header, of those that are always there, that defines `name`; empty where none does.
[[nodiscard]] std::string_view providing_header(std::string_view name);

}  // namespace cudacore::compile
