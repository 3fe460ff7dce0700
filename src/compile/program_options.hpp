// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/linker.hpp"
#include "cudacore/program.hpp"

namespace cudacore::compile {

/// The options as nvJitLink takes them, for a program in PTX or LTO IR. What means something to a
/// C++ compiler alone is left out.
[[nodiscard]] LinkerOptions linker_options(const ProgramOptions& options);

}  // namespace cudacore::compile
