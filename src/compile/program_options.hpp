// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/linker.hpp"
#include "cudacore/program.hpp"

namespace cudacore::compile {

/// The options in nvJitLink's form, for a program in PTX or LTO IR. Leaves out options that apply
/// only to a C++ compiler.
[[nodiscard]] LinkerOptions linker_options(const ProgramOptions& options);

}  // namespace cudacore::compile
