// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// How a load or store walks through memory.
struct TileAccess {
  std::size_t contiguous_axis = 0;  ///< along which neighbors in memory lie
  bool is_contiguous = false;       ///< the stride of that axis is the literal 1
  int vector = 1;                   ///< elements that one instruction may move: a power of two
  /// A group of `vector` elements lies wholly inside or outside of the array.
  bool whole_vectors = false;
};

/// Of a load or store of a tile.
[[nodiscard]] TileAccess tile_access(const Operation& operation);

/// The tile that an operation on memory reads or writes.
[[nodiscard]] const Type& accessed_type(const Operation& operation);

/// Whether an origin or extent has, or needs, 64 bits.
[[nodiscard]] bool is_wide(const Operand& operand);

}  // namespace cudacore::tile
