// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cudacore::compile {

/// What to do about a header that was not found: where it was looked for, and which header, wheel
/// or option helps. `flags` is the command line of the compilation, `major` NVRTC's version.
[[nodiscard]] std::string missing_header_advice(std::string_view header,
                                                std::span<const std::string> flags, int major);

/// What to do about an error inside a header of NVIDIA's; empty for any other file.
[[nodiscard]] std::string foreign_header_advice(std::string_view file);

}  // namespace cudacore::compile
