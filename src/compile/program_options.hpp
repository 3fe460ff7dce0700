// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "cudacore/linker.hpp"
#include "cudacore/program.hpp"

namespace cudacore::compile {

/// The names of the options that ask for something.
[[nodiscard]] std::vector<std::string_view> set_fields(const ProgramOptions& options);

/// The options as nvJitLink takes them, for a program in `source` ("PTX").
/// @throw std::invalid_argument naming an option that only a C++ compiler understands.
[[nodiscard]] LinkerOptions linker_options(const ProgramOptions& options, std::string_view source);

}  // namespace cudacore::compile
