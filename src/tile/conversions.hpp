// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/kernel.hpp"
#include "tile/lowering.hpp"

namespace cudacore::tile {

/// Where an operation needs a tile in another layout, has a new one computed: cheap ones again from
/// the start, others by `convert`. Operations whose results follow from their operands get these.
void insert_conversions(Kernel& kernel, const Target& target, const Lowering& lowering);

/// Removes operations whose results nobody uses.
void remove_unused(Kernel& kernel);

}  // namespace cudacore::tile
