// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cudacore::compile {

/// What to do about a header that was not found: which places were searched, and which header,
/// wheel or option helps. `flags` is the command line of the compilation, `major` NVRTC's version.
[[nodiscard]] std::string missing_header_advice(std::string_view header,
                                                std::span<const std::string> flags, int major);

/// Which of the available C or CUDA headers to include for an undeclared name; empty for any other
/// name, and if `source` includes the header.
[[nodiscard]] std::string forgotten_header_advice(std::string_view name, std::string_view source,
                                                  std::span<const std::string> flags);

/// What to do about an error inside one of NVIDIA's headers; empty for any other file.
[[nodiscard]] std::string foreign_header_advice(std::string_view file);

}  // namespace cudacore::compile
