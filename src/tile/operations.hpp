// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Whether each element of the result depends on the elements at its place in the operands alone.
[[nodiscard]] bool is_elementwise(const Operation& operation);
/// Whether an operation does nothing but give its results.
[[nodiscard]] bool is_pure(const Operation& operation);
/// Whether an operation writes to what its first operand points to.
[[nodiscard]] bool writes_memory(const Operation& operation);
[[nodiscard]] bool is_terminator(const Operation& operation);

/// The bits of a tile's row-major index that axis `axis` has: from .first, .second of them.
[[nodiscard]] std::pair<int, int> axis_bits(const Type& type, std::size_t axis);

/// For the bits of a tile's index: those of the tile without an axis, -1 for the axis's own.
[[nodiscard]] std::vector<int> without_axis(const Type& type, std::size_t axis);
/// For the bits of a permute's operand: those of its result.
[[nodiscard]] std::vector<int> permuted_bits(const Operation& permute);
/// For the bits of a broadcast's result: those of its operand, -1 where that has one element.
[[nodiscard]] std::vector<int> broadcast_bits(const Type& result, const Type& operand);
/// For the bits of a tile: those of a block of it with the extents of `block`, -1 for the bits that
/// say which block.
[[nodiscard]] std::vector<int> block_bits(const Type& type, const Type& block);
/// Whether the two groups that a reduce or scan combines may change places.
[[nodiscard]] bool commutes(const Operation& operation);
/// The axis that attribute `axis` names.
[[nodiscard]] std::size_t axis_of(const Operation& operation);

/// How often each value is used.
using Uses = std::unordered_map<const Value*, int>;
[[nodiscard]] Uses count_uses(const Kernel& kernel);

}  // namespace cudacore::tile
