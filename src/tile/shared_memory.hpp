// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tile/kernel.hpp"
#include "tile/target.hpp"

namespace cudacore::tile {

/// Gives each shared value, and what operations need while they run, a place in shared memory;
/// returns the bytes that a block needs. Values of different regions share memory as far as these
/// do not live at once.
///
/// \throws Error that names the tile and the bytes if the block may not have so many
[[nodiscard]] std::int64_t allocate_shared(Kernel& kernel, const Target& target);

}  // namespace cudacore::tile
