// SPDX-License-Identifier: Apache-2.0
//
// Variables and parameters as they are declared.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "simulator/ptx/lexer.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

/// A use of a module's symbol that may be declared further down.
struct Reference {
  std::string_view name;
  Position position;
};

/// What one text may still ask for, so that a short one cannot take all memory, and what is left to
/// look up at its module's end.
struct Ledger {
  std::size_t entries = 0;  ///< registers, and numbers of files
  std::size_t initial_bytes = 0;
  std::vector<Reference> references;
};

/// No variable is larger.
constexpr std::size_t largest_size = std::size_t{1} << 40U;

/// What stands between the space of a variable and its name.
struct Qualifiers {
  Type type = Type::b8;
  unsigned vector = 1;
  unsigned align = 0;  ///< 0 where not given
  bool is_pointer = false;
  bool managed = false;
  bool opaque = false;  ///< a reference to a texture, a sampler or a surface
};

[[nodiscard]] Qualifiers parse_qualifiers(Lexer& lexer);

/// What follows ".attribute".
void parse_attributes(Lexer& lexer, Qualifiers& qualifiers);

/// The rest of a declaration after its space, up to and with the ';': one variable or several.
void parse_variables(Lexer& lexer, Ledger& ledger, Space space, Linkage linkage,
                     std::vector<Variable>& variables);

/// One parameter of a function or a prototype, from ".param" or ".reg" on.
[[nodiscard]] Variable parse_parameter(Lexer& lexer);

}  // namespace cudacore::simulator::ptx
