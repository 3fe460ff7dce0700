// SPDX-License-Identifier: Apache-2.0
#include "tile/operations.hpp"

#include <unordered_set>

namespace cudacore::tile {

bool is_elementwise(const Operation& operation) {
  static const std::unordered_set<std::string_view> names = {
      "add",   "sub",  "mul",     "div",   "floordiv",   "mod",  "pow", "atan2", "min",  "max",
      "and",   "or",   "xor",     "shl",   "shr",        "neg",  "abs", "not",   "exp",  "exp2",
      "log",   "log2", "sqrt",    "rsqrt", "sin",        "cos",  "tan", "sinh",  "cosh", "tanh",
      "floor", "ceil", "isnan",   "eq",    "ne",         "lt",   "le",  "gt",    "ge",   "select",
      "fma",   "cast", "bitcast", "call",  "assume_div", "mulhi"};
  return names.contains(operation.name);
}

bool is_pure(const Operation& operation) {
  static const std::unordered_set<std::string_view> names = {
      "const",   "iota",   "bid",  "num_blocks", "broadcast", "reshape", "permute", "cat",
      "extract", "insert", "pack", "unpack",     "reduce",    "scan",    "mma",     "convert"};
  return is_elementwise(operation) ? !operation.is("call") : names.contains(operation.name);
}

bool writes_memory(const Operation& operation) {
  return operation.is("store") || operation.is("store_at") || operation.is("atomic") ||
         operation.is("atomic_cas");
}

bool is_terminator(const Operation& operation) {
  return operation.is("yield") || operation.is("continue") || operation.is("break") ||
         operation.is("return");
}

std::pair<int, int> axis_bits(const Type& type, std::size_t axis) {
  if (!type.is_tile()) return {0, 0};
  int first = 0;
  for (std::size_t i = type.shape.size(); --i > axis;) first += log2(type.shape[i]);
  return {first, log2(type.shape[axis])};
}

std::vector<int> without_axis(const Type& type, std::size_t axis) {
  const auto [first, count] = axis_bits(type, axis);
  std::vector<int> map;
  for (int bit = 0; bit < type.index_bits(); ++bit)
    map.push_back(bit < first ? bit : bit < first + count ? -1 : bit - count);
  return map;
}

std::vector<int> permuted_bits(const Operation& permute) {
  const Type& from = permute.operand(0)->type;
  const Type& to = permute.result()->type;
  const auto& axes = std::get<AttributeList>(permute.attribute("axes")->value);
  std::vector<int> map(static_cast<std::size_t>(from.index_bits()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(std::get<std::int64_t>(axes[i].value));
    const auto [source, count] = axis_bits(from, axis);
    const int target = axis_bits(to, i).first;
    for (int bit = 0; bit < count; ++bit)
      map[static_cast<std::size_t>(source + bit)] = target + bit;
  }
  return map;
}

std::vector<int> broadcast_bits(const Type& result, const Type& operand) {
  std::vector<int> map(static_cast<std::size_t>(result.index_bits()), -1);
  for (std::size_t axis = 0; axis < operand.shape.size(); ++axis) {
    const auto [target, count] = axis_bits(operand, axis);
    const int source = axis_bits(result, axis).first;
    for (int bit = 0; bit < count; ++bit)
      map[static_cast<std::size_t>(source + bit)] = target + bit;
  }
  return map;
}

std::vector<int> block_bits(const Type& type, const Type& block) {
  std::vector<int> map(static_cast<std::size_t>(type.index_bits()), -1);
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
    const int source = axis_bits(type, axis).first;
    const auto [target, count] = axis_bits(block, axis);  // none of a scalar
    for (int bit = 0; bit < count; ++bit)
      map[static_cast<std::size_t>(source + bit)] = target + bit;
  }
  return map;
}

bool commutes(const Operation& operation) {
  static const std::unordered_set<std::string_view> names = {"add", "mul", "min", "max",
                                                             "and", "or",  "xor"};
  const Region& region = operation.region(0);
  return operation.integer("commutes") != 0 ||
         (region.operations.size() == 2 && names.contains(region.operations[0]->name));
}

std::size_t axis_of(const Operation& operation) {
  return static_cast<std::size_t>(operation.integer("axis"));
}

Uses count_uses(const Kernel& kernel) {
  Uses uses;
  for_each_operation(kernel.body, [&](const Operation& operation) {
    for_each_operand(operation, [&](const Operand& operand) {
      if (operand.value != nullptr) ++uses[operand.value];
    });
  });
  return uses;
}

}  // namespace cudacore::tile
