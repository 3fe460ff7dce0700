// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Sets Value::divisor of the integers and pointers that are not parameters.
void find_divisors(Kernel& kernel);

/// What divides an operand; 0 if it is 0.
[[nodiscard]] std::int64_t divisor(const Operand& operand);

}  // namespace cudacore::tile
