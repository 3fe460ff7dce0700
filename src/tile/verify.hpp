// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Checks the operations' names, operands, attributes and types, so that what follows need not.
///
/// \throws Error at the place of the first operation that is wrong
void verify(const Kernel& kernel);

}  // namespace cudacore::tile
