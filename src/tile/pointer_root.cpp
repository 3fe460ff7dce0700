// SPDX-License-Identifier: Apache-2.0
#include "tile/pointer_root.hpp"

#include <map>
#include <string_view>

namespace cudacore::tile {

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
