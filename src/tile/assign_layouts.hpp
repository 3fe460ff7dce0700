// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/kernel.hpp"
#include "tile/lowering.hpp"

namespace cudacore::tile {

/// The number of warps for a kernel: its hint, what the lowering wishes, or what its largest tile
/// needs.
[[nodiscard]] int choose_warps(const Kernel& kernel, const Lowering& lowering);

/// Gives each tile a layout: first those that the lowering fixes, then loads and stores, the
/// largest first; what is computed from a tile or makes it follows it as far as it can.
void assign_layouts(Kernel& kernel, const Target& target, const Lowering& lowering);

/// The layout in which a load or store touches memory well, if it decides alone.
[[nodiscard]] Layout memory_layout(const Operation& operation, Kernel& kernel,
                                   const Target& target);

/// Whether the threads of a warp that touch memory in this layout use most of what moves.
[[nodiscard]] bool is_coalesced(const Operation& operation, const Layout& layout);

}  // namespace cudacore::tile
