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

/// Which header to include for a name that nothing declares, of C's and of CUDA's that are there;
/// empty for any other name, and where `source` includes the header.
[[nodiscard]] std::string forgotten_header_advice(std::string_view name, std::string_view source,
                                                  std::span<const std::string> flags);

/// What to do about an error inside a header of NVIDIA's; empty for any other file.
[[nodiscard]] std::string foreign_header_advice(std::string_view file);

}  // namespace cudacore::compile
