// SPDX-License-Identifier: Apache-2.0
#include "tile/access.hpp"

#include <algorithm>

#include "tile/divisors.hpp"

namespace cudacore::tile {

const Type& accessed_type(const Operation& operation) {
  if (operation.is("store")) return operation.operand(1)->type;
  if (operation.is("store_at")) return operation.operand(2)->type;
  if (operation.results.empty()) return operation.operand(1)->type;  // an atomic's offsets
  return operation.result()->type;
}

TileAccess tile_access(const Operation& operation) {
  TileAccess access;
  const Type& type = accessed_type(operation);
  if (!type.is_tile()) return access;
  const std::vector<Operand>& strides = operation.group("strides");
  const std::size_t rank = type.shape.size();
  // Axes of one element are contiguous only if nothing else is.
  access.contiguous_axis = rank - 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (strides[axis].value != nullptr || strides[axis].literal != 1) continue;
    if (access.is_contiguous && type.shape[axis] == 1) continue;
    access.contiguous_axis = axis;
    access.is_contiguous = true;
  }
  if (!access.is_contiguous) return access;
  const Value* const pointer = operation.operand(0);
  const int size = bytes(type.element);
  std::int64_t vector =
      std::min<std::int64_t>(std::max(1, 16 / size), type.shape[access.contiguous_axis]);
  const auto allow = [&](std::int64_t divisor) {
    if (divisor != 0) vector = std::min(vector, divisor & -divisor);
  };
  allow(std::max<std::int64_t>(1, (pointer->divisor & -pointer->divisor) / size));
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Operand& origin = operation.group("origin")[axis];
    if (axis == access.contiguous_axis)
      allow(divisor(origin));
    else if (type.shape[axis] > 1 || origin.value != nullptr || origin.literal != 0)
      allow(divisor(strides[axis]));
  }
  access.vector = static_cast<int>(vector);
  const std::int64_t extent = divisor(operation.group("shape")[access.contiguous_axis]);
  access.whole_vectors = extent % vector == 0;
  return access;
}

bool is_wide(const Operand& operand) {
  return operand.value != nullptr ? bits(operand.value->type.element) == 64
                                  : operand.literal != static_cast<std::int32_t>(operand.literal);
}

}  // namespace cudacore::tile
