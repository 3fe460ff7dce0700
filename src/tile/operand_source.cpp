// SPDX-License-Identifier: Apache-2.0
#include "tile/operand_source.hpp"

#include <algorithm>

#include "tile/access.hpp"

namespace cudacore::tile {
namespace {

// The axis of the load that each axis of a value is, or -1 where that has one element.
using Axes = std::vector<int>;

std::optional<Axes> follow(const Operation& operation, const Axes& axes) {
  const Type& from = operation.operand(0)->type;
  const Type& to = operation.result()->type;
  if (operation.is("cast"))
    return from.element == Element::f32 && to.element == Element::tf32 ? std::optional(axes)
                                                                       : std::nullopt;
  if (operation.is("permute")) {
    Axes result;
    for (const Attribute& axis : std::get<AttributeList>(operation.attribute("axes")->value))
      result.push_back(axes[static_cast<std::size_t>(std::get<std::int64_t>(axis.value))]);
    return result;
  }
  if (!operation.is("reshape")) return std::nullopt;
  Axes long_axes;
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < from.shape.size(); ++i)
    if (from.shape[i] > 1) {
      long_axes.push_back(axes[i]);
      extents.push_back(from.shape[i]);
    }
  Axes result;
  std::size_t next = 0;
  for (const std::int64_t extent : to.shape) {
    if (extent == 1) {
      result.push_back(-1);
    } else if (next < extents.size() && extents[next] == extent) {
      result.push_back(long_axes[next++]);
    } else {
      return std::nullopt;
    }
  }
  return result;
}

bool can_fetch(const Operation& load) {
  const std::string pad = load.word("pad", "undef");
  return load.is("load") && load.result()->type.is_tile() && load.word("mem", "weak") == "weak" &&
         (pad == "undef" || pad == "zero" || load.integer("bounds", 1) == 0);
}

}  // namespace

std::optional<OperandSource> operand_source(const Operation& mma, std::size_t operand,
                                            const Uses& uses) {
  std::vector<const Operation*> chain;
  const Value* value = mma.operand(operand);
  const Element multiplied = value->type.element;
  Operation* source = value->source;
  while (source != nullptr) {
    if (uses.at(value) != 1) return std::nullopt;
    if (source->is("load")) break;
    if (source->operands.empty() || source->operand(0) == nullptr) return std::nullopt;
    if (!source->is("cast") && !source->is("permute") && !source->is("reshape"))
      return std::nullopt;
    chain.push_back(source);
    value = source->operand(0);
    source = value->source;
  }
  if (source == nullptr || !can_fetch(*source)) return std::nullopt;
  const Type& type = source->result()->type;
  Axes axes;
  for (std::size_t i = 0; i < type.shape.size(); ++i)
    axes.push_back(type.shape[i] > 1 ? static_cast<int>(i) : -1);
  std::reverse(chain.begin(), chain.end());
  for (const Operation* const step : chain) {
    const std::optional<Axes> next = follow(*step, axes);
    if (!next) return std::nullopt;
    axes = *next;
  }
  const TileAccess access = tile_access(*source);
  if (!access.is_contiguous) return std::nullopt;
  OperandSource found;
  found.load = source;
  const std::size_t rank = axes.size();
  found.batch_axis = rank == 3 ? axes[0] : -1;
  const bool is_left = operand == 0;
  const int inner = is_left ? axes[rank - 1] : axes[rank - 2];
  const int outer = is_left ? axes[rank - 2] : axes[rank - 1];
  const auto contiguous = static_cast<int>(access.contiguous_axis);
  if (contiguous != inner && contiguous != outer) return std::nullopt;
  found.stage.element = type.element;
  found.stage.inner_is_column = contiguous == inner;
  found.column_axis = contiguous;
  found.row_axis = found.stage.inner_is_column ? outer : inner;
  const auto extent = [&](int axis) {
    return axis < 0 ? 1 : static_cast<int>(type.shape[static_cast<std::size_t>(axis)]);
  };
  found.stage.batch = extent(found.batch_axis);
  found.stage.rows = extent(found.row_axis);
  found.stage.columns = extent(found.column_axis);
  found.chunk = access.vector * bytes(type.element);
  found.whole = access.whole_vectors;
  if (found.chunk < 4 || bytes(type.element) != bytes(multiplied)) return std::nullopt;
  return found;
}

}  // namespace cudacore::tile
