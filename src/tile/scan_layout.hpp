// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tile/kernel.hpp"
#include "tile/target.hpp"

namespace cudacore::tile {

/// The layout in which a tile is scanned, or reduced in order, along an axis: its own if there the
/// axis's bits stand in registers, lanes and warps in ascending order; otherwise one of that kind.
[[nodiscard]] Layout scan_layout(const Type& type, std::size_t axis, const Layout& own,
                                 const Target& target);

}  // namespace cudacore::tile
