// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cudacore/object_code.hpp"

namespace cudacore::compile {

/// The symbols of the kernels, functions and variables that a PTX module defines for other modules,
/// of which a linked program may have only one each: `.visible`, not `.weak` or `.common`.
[[nodiscard]] std::vector<std::string> strong_definitions_in_ptx(std::string_view ptx);

/// The same for a cubin: its global symbols.
/// @throw std::invalid_argument if the bytes are not a CUDA ELF file.
[[nodiscard]] std::vector<std::string> strong_definitions_in_cubin(
    std::span<const std::byte> cubin);

/// Rejects inputs if two of them define the same symbol. nvJitLink doesn't do this: given such PTX
/// or cubins, it prints to standard error and succeeds, or crashes. It does check LTO IR, so that
/// is left to it, as is code that cannot be read.
/// @throw LinkError
void check_defined_once(std::span<const ObjectCode> inputs);

}  // namespace cudacore::compile
