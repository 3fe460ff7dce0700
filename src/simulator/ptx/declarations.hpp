// SPDX-License-Identifier: Apache-2.0
//
// Declarations of variables and parameters.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "simulator/ptx/lexer.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

/// A use of a module's symbol that may be declared later.
struct Reference {
  std::string_view name;
  Position position;
};

/// How much more a text may allocate, so that a short text cannot use all memory, and what has to
/// be looked up at the end of its module.
struct Ledger {
  std::size_t entries = 0;  ///< registers, and file numbers
  std::size_t initial_bytes = 0;
  std::vector<Reference> references;
};

/// The largest possible variable.
constexpr std::size_t largest_size = std::size_t{1} << 40U;

/// The part between a variable's space and its name.
struct Qualifiers {
  Type type = Type::b8;
  unsigned vector = 1;
  unsigned align = 0;  ///< 0 if not given
  bool is_pointer = false;
  bool managed = false;
  bool opaque = false;  ///< a reference to a texture, a sampler or a surface
};

[[nodiscard]] Qualifiers parse_qualifiers(Lexer& lexer);

/// What follows ".attribute".
void parse_attributes(Lexer& lexer, Qualifiers& qualifiers);

/// The rest of a declaration after its space, up to and including the ';': one variable or several.
void parse_variables(Lexer& lexer, Ledger& ledger, Space space, Linkage linkage,
                     std::vector<Variable>& variables);

/// One parameter of a function or a prototype, starting at ".param" or ".reg".
[[nodiscard]] Variable parse_parameter(Lexer& lexer);

}  // namespace cudacore::simulator::ptx
