// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// What an elementwise operation computes from the expressions of its operands' elements, and the
/// header of device/ that its functions stand in, besides the one that all kernels include.
struct Expression {
  std::string text;
  std::string header;
};

[[nodiscard]] Expression expression(const Operation& operation,
                                    const std::vector<std::string>& operands);

}  // namespace cudacore::tile
