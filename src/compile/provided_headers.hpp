// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::compile {

/// What a compilation gets from memory.
struct CompilerInputs {
  std::map<std::string, std::string> headers;  ///< by name
  std::vector<std::string> flags;
};

/// Adds what a failed compilation lacked and NVRTC supports but doesn't declare: C's own headers,
/// and the device functions of programmatic dependent launch; and cudacore's own headers. This
/// shadows nothing: only what was not found anywhere is added.
/// @return whether something was added, so that it makes sense to try again.
[[nodiscard]] bool provide_missing(std::string_view log, CompilerInputs& given);

/// The text of an always available header of C; unset for any other name.
[[nodiscard]] std::optional<std::string_view> provided_header(std::string_view name);
/// All that provide_missing() may add, for a hash.
[[nodiscard]] std::string all_provided();

/// The always available C header that defines `name`; empty if there is none.
[[nodiscard]] std::string_view providing_header(std::string_view name);

}  // namespace cudacore::compile
