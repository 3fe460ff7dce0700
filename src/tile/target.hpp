// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cudacore::tile {

/// What a kernel is generated for.
struct Target {
  int architecture = 80;                  ///< 10 * major + minor
  int warps = 4;                          ///< of a block; a power of two
  std::int64_t shared_limit = 48 * 1024;  ///< bytes of shared memory that a block may have
};

}  // namespace cudacore::tile
