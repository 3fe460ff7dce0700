// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Parses the text of a kernel. The names of operations and their operands' types are verify()'s.
///
/// \throws Error what the text's line lacks
[[nodiscard]] std::unique_ptr<Kernel> parse(std::string_view text);

}  // namespace cudacore::tile
