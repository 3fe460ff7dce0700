// SPDX-License-Identifier: Apache-2.0
//
// Initial values of variables.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/ptx/declarations.hpp"

namespace cudacore::simulator::ptx {

/// What follows the '=' of a variable's declaration: its bytes and relocations. If the first
/// dimension has no size, it gets the number of values.
void parse_initializer(Lexer& lexer, Ledger& ledger, Variable& variable,
                       const std::vector<std::size_t>& dimensions, bool is_unsized);

}  // namespace cudacore::simulator::ptx
