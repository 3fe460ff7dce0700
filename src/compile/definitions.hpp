// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
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

/// The symbol of a directive such as `.func (.param .b32 result) twice(`; empty if it has none.
[[nodiscard]] std::string_view declared_symbol(std::string_view directive);

/// A function or a variable of another module.
struct Declaration {
  std::string symbol;
  bool is_function = false;

  auto operator<=>(const Declaration&) const = default;  // NOLINT: takes it for a null pointer
};

/// What a PTX module declares as `.extern`, except shared memory.
[[nodiscard]] std::vector<Declaration> external_declarations_in_ptx(std::string_view ptx);

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
