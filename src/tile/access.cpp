// SPDX-License-Identifier: Apache-2.0
#include "tile/access.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

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

Root pointer_root(const Value* pointer) {
  Root root{pointer, false};
  while (true) {
    const Operation* const source = root.parameter->source;
    if (root.parameter->joined != nullptr) {
      root.parameter = root.parameter->joined;
    } else if (source != nullptr && source->regions.empty() && !source->operands.empty() &&
               source->operand(0) != nullptr) {
      root.pointee = root.pointee || source->is("load") || source->is("load_at");
      root.parameter = source->operand(0);
    } else {
      break;
    }
  }
  if (root.parameter->joins_pointee) root.pointee = false;
  return root;
}

namespace {

void join(Value* one, const Operand& other) {
  if (!one->type.pointer || other.value == nullptr) return;
  const Root first = pointer_root(one);
  const Root second = pointer_root(other.value);
  if (first.parameter == second.parameter) {
    if (first.pointee != second.pointee) const_cast<Value*>(first.parameter)->joins_pointee = true;
    return;
  }
  auto* const joined = const_cast<Value*>(first.parameter);
  auto* const target = const_cast<Value*>(second.parameter);
  joined->joined = target;
  target->joins_pointee =
      target->joins_pointee || joined->joins_pointee || first.pointee != second.pointee;
}

// Joins the values of a region's end with those that it gives them to.
void join(const std::vector<Value*>& values, const std::vector<Operand>& operands,
          std::size_t first = 0) {
  for (std::size_t i = 0; i < operands.size() && first + i < values.size(); ++i)
    join(values[first + i], operands[i]);
}

void join_region(Region& region, const Operation* loop) {
  for (const std::unique_ptr<Operation>& operation : region.operations) {
    const bool is_for = operation->is("for");
    const bool is_loop = is_for || operation->is("loop");
    if (is_loop) {
      join(operation->results, operation->group("iter"));
      join(operation->region(0).arguments, operation->group("iter"), is_for ? 1 : 0);
    }
    for (const std::unique_ptr<Region>& inner : operation->regions) {
      join_region(*inner, is_loop ? operation.get() : loop);
      if (!inner->operations.empty() && inner->operations.back()->is("yield"))
        join(operation->results, inner->operations.back()->operands);
    }
    if ((operation->is("continue") || operation->is("break")) && loop != nullptr) {
      join(loop->results, operation->operands);
      join(loop->region(0).arguments, operation->operands, loop->is("for") ? 1 : 0);
    }
  }
}

}  // namespace

void join_pointers(Kernel& kernel) {
  std::map<std::string_view, Value*> first;
  for (Value* const parameter : kernel.parameters)
    for (const std::string& group : parameter->alias_groups) {
      Value* const other = first.emplace(group, parameter).first->second;
      join(parameter, {other, 0});
      // A list's table has the group of the arrays that it points to.
      const_cast<Value*>(pointer_root(parameter).parameter)->joins_pointee = true;
    }
  join_region(kernel.body, nullptr);
}

}  // namespace cudacore::tile
