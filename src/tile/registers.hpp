// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/kernel.hpp"
#include "tile/target.hpp"

namespace cudacore::tile {

/// Refuses tiles that no thread could hold its part of in registers.
///
/// \throws Error that names the tile and how many registers of each thread it takes
void check_registers(const Kernel& kernel, const Target& target);

}  // namespace cudacore::tile
