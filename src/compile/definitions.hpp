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

/// The symbols of the kernels, functions and variables that a PTX module defines for others to see,
/// of which a linked program may have one each: `.visible`, not `.weak` or `.common`.
[[nodiscard]] std::vector<std::string> strong_definitions_in_ptx(std::string_view ptx);

/// The symbol of a directive such as `.func (.param .b32 result) twice(`; empty where it has none.
[[nodiscard]] std::string_view declared_symbol(std::string_view directive);

/// A function or a variable of another module.
struct Declaration {
  std::string symbol;
  bool is_function = false;

  auto operator<=>(const Declaration&) const = default;  // NOLINT: takes it for a null pointer
};

/// What a PTX module declares `.extern`, shared memory left out.
[[nodiscard]] std::vector<Declaration> external_declarations_in_ptx(std::string_view ptx);

/// The same of a cubin: its global symbols.
/// @throw std::invalid_argument where the bytes are not a CUDA ELF file.
[[nodiscard]] std::vector<std::string> strong_definitions_in_cubin(
    std::span<const std::byte> cubin);

/// Refuses inputs of which two define the same symbol. nvJitLink cannot be left to: given such PTX
/// or cubins it prints to standard error and succeeds, or crashes. LTO IR, in which it finds them,
/// and code that cannot be read are left to it.
/// @throw LinkError
void check_defined_once(std::span<const ObjectCode> inputs);

}  // namespace cudacore::compile
