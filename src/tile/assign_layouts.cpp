// SPDX-License-Identifier: Apache-2.0
#include "tile/assign_layouts.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "tile/access.hpp"
#include "tile/layout_graph.hpp"
#include "tile/operations.hpp"
#include "tile/streaming_loads.hpp"

namespace cudacore::tile {
namespace {

constexpr std::int64_t sector = 32;  // bytes that memory moves at once

bool touches_tile(const Operation& operation) {
  return (operation.is("load") || operation.is("store") || operation.is("load_at") ||
          operation.is("store_at") || operation.is("atomic") || operation.is("atomic_cas")) &&
         accessed_type(operation).is_tile();
}

bool has_shape_access(const Operation& operation) {
  return operation.is("load") || operation.is("store");
}

// Vectors that suit all tiles of one shape that are contiguous along one axis, so that they share
// a layout.
class Classes {
 public:
  explicit Classes(Kernel& kernel) {
    bool multiplies = false;
    for_each_operation(kernel.body, [&](const Operation& operation) {
      turns_ = turns_ || operation.is("permute");
      multiplies = multiplies || operation.is("mma");
      if (!touches_tile(operation) || !has_shape_access(operation)) return;
      const TileAccess access = tile_access(operation);
      int& vector = vectors_[{accessed_type(operation).shape, access.contiguous_axis}];
      vector = std::max(vector, access.vector);
    });
    turns_ = turns_ && !multiplies;
  }

  [[nodiscard]] Layout layout(const Type& type, std::size_t axis, const Target& target) const {
    const auto found = vectors_.find({type.shape, axis});
    int vector = found == vectors_.end() ? 1 : found->second;
    const std::int64_t each =
        std::max<std::int64_t>(1, type.size() / (std::int64_t{32} * target.warps));
    vector = static_cast<int>(std::min<std::int64_t>(vector, each));
    std::vector<int> order;
    const auto add = [&](std::size_t i) {
      const auto [first, count] = axis_bits(type, i);
      for (int bit = 0; bit < count; ++bit) order.push_back(first + bit);
    };
    add(axis);
    const std::size_t contiguous = order.size();
    for (std::size_t i = type.shape.size(); i-- > 0;)
      if (i != axis) add(i);
    const int warp_bits = log2(target.warps);
    int own = log2(vector);
    if (turns_ && order.size() > contiguous) {
      // A square of elements in each thread moves in whole vectors along either axis.
      const auto total = static_cast<int>(order.size());
      const auto [first, count] = axis_bits(
          type, axis + 1 == type.shape.size() ? next_axis(type, axis) : type.shape.size() - 1);
      const int across = std::max(0, std::min({log2(std::max(1, 16 / bytes(type.element))),
                                               total - 5 - warp_bits - own, count}));
      for (int bit = 0; bit < across; ++bit) {
        std::erase(order, first + bit);
        order.insert(order.begin() + own + bit, first + bit);
      }
      own += across;
    }
    // Warps take rows of their own where there are some, so that reductions of rows stay in a warp.
    const std::size_t taken = static_cast<std::size_t>(own) + 5;
    std::vector<int> rows;
    while (static_cast<int>(rows.size()) < warp_bits &&
           order.size() > std::max(contiguous, taken)) {
      rows.insert(rows.begin(), order.back());
      order.pop_back();
    }
    Layout layout = blocked(order, own, warp_bits - static_cast<int>(rows.size()));
    layout.warps.insert(layout.warps.end(), rows.begin(), rows.end());
    return layout;
  }

  [[nodiscard]] Layout layout(const Operation& operation, const Target& target) const {
    const Type& type = accessed_type(operation);
    const std::size_t axis = has_shape_access(operation) ? tile_access(operation).contiguous_axis
                                                         : type.shape.size() - 1;
    return layout(type, axis, target);
  }

 private:
  // The last axis before this one that has more than one element, or 0.
  static std::size_t next_axis(const Type& type, std::size_t axis) {
    while (axis-- > 1)
      if (type.shape[axis] > 1) return axis;
    return 0;
  }

  std::map<std::pair<std::vector<std::int64_t>, std::size_t>, int> vectors_;
  bool turns_ = false;  // tiles change the order of their axes
};

}  // namespace

int choose_warps(const Kernel& kernel, const Lowering& lowering) {
  if (const std::int64_t hint = kernel.hint("warps", 0); hint > 0) {
    if (hint > 32 || (hint & (hint - 1)) != 0)
      throw kernel.error(
          {}, "the number of warps is a power of two up to 32, not " + std::to_string(hint));
    return static_cast<int>(hint);
  }
  if (const int wish = lowering.warps(kernel); wish > 0) return wish;
  std::int64_t largest = 1;   // elements of a tile
  std::int64_t heaviest = 1;  // bytes of a tile
  std::int64_t moved = 0;     // bytes of a tile that is loaded or stored as a whole
  bool exchanges = false;
  for_each_operation(kernel.body, [&](const Operation& operation) {
    exchanges = exchanges || operation.is("reduce") || operation.is("permute");
    if (touches_tile(operation) && has_shape_access(operation)) {
      const Type& type = accessed_type(operation);
      moved = std::max(moved, type.size() * bytes(type.element));
    }
    for (const Value* const result : operation.results) {
      if (!result->type.is_tile() || result->shared) continue;
      largest = std::max(largest, result->type.size());
      heaviest = std::max(heaviest, result->type.size() * bytes(result->type.element));
    }
  });
  // Two vectors a thread are enough to keep memory busy. Where threads wait for one another, four:
  // what an exchange costs is then shared by more elements, and more blocks fill the waits. What
  // all blocks load takes registers too, which leaves room for half as many blocks of that size.
  const std::int64_t vectors = exchanges && !StreamingLoads(kernel).shares_loads() ? 4 : 2;
  const auto suffices = [&](int warps) {
    const std::int64_t threads = std::int64_t{32} * warps;
    if (moved == 0) return largest <= threads * 8;
    return moved <= threads * 16 * vectors && largest <= threads * 8 * vectors;
  };
  int warps = 1;
  while (warps < 16 && !suffices(warps)) warps *= 2;
  // More only where registers would not hold a tile.
  while (warps < 32 && heaviest > std::int64_t{32} * warps * 256) warps *= 2;
  return warps;
}

bool is_coalesced(const Operation& operation, const Layout& layout) {
  const Type& type = accessed_type(operation);
  const int size = bytes(type.element);
  if (type.size() * size <= 1024) return true;
  const std::size_t axis =
      has_shape_access(operation) ? tile_access(operation).contiguous_axis : type.shape.size() - 1;
  const auto [first, count] = axis_bits(type, axis);
  // A thread's own neighbors move at once if they are in its first registers; then come the lanes'.
  int own = 0;
  while (own < count && own < static_cast<int>(layout.registers.size()) &&
         layout.registers[static_cast<std::size_t>(own)] == first + own)
    ++own;
  int run = own;
  while (run < count &&
         std::find(layout.lanes.begin(), layout.lanes.end(), first + run) != layout.lanes.end())
    ++run;
  const bool is_whole = run == count;
  return (is_whole || (std::int64_t{size} << run) >= sector) && (std::int64_t{size} << own) <= 32;
}

void assign_layouts(Kernel& kernel, const Target& target, const Lowering& lowering) {
  const Classes classes(kernel);
  LayoutGraph graph(kernel);
  const auto accept = [](const Value& value, const Layout& layout) {
    const Operation* const source = value.source;
    return source == nullptr || !has_shape_access(*source) || is_coalesced(*source, layout);
  };
  std::vector<Operation*> memory;
  std::vector<Value*> fixed;
  for_each_operation(kernel.body, [&](Operation& operation) {
    if (touches_tile(operation)) memory.push_back(&operation);
    if (const auto wanted = lowering.layouts(operation, target))
      for (std::size_t i = 0; i < operation.results.size(); ++i)
        if (i < wanted->results.size() && !wanted->results[i].empty()) {
          operation.results[i]->layout = wanted->results[i];
          fixed.push_back(operation.results[i]);
        }
  });
  // All have theirs before one spreads, which would give another mma a layout that is not its own.
  for (Value* const value : fixed) graph.propagate(value, accept);
  std::stable_sort(memory.begin(), memory.end(), [](const Operation* a, const Operation* b) {
    return accessed_type(*a).size() > accessed_type(*b).size();
  });
  for (const Operation* const operation : memory) {
    Value* tile = nullptr;
    if (operation->is("store"))
      tile = operation->operand(1);
    else if (operation->is("store_at"))
      tile = operation->operand(2);
    else
      tile = operation->results.empty() ? operation->operand(1) : operation->result();
    if (tile != nullptr && !tile->shared)
      graph.assign(tile, classes.layout(*operation, target), accept);
  }
  std::vector<Value*> rest;
  for_each_operation(kernel.body, [&](const Operation& operation) {
    for (Value* const result : operation.results)
      if (result->type.is_tile() && !result->shared) rest.push_back(result);
    for (const std::unique_ptr<Region>& region : operation.regions)
      for (Value* const argument : region->arguments)
        if (argument->type.is_tile() && !argument->shared) rest.push_back(argument);
  });
  std::stable_sort(rest.begin(), rest.end(),
                   [](const Value* a, const Value* b) { return a->type.size() > b->type.size(); });
  for (Value* const value : rest)
    graph.assign(value, classes.layout(value->type, value->type.shape.size() - 1, target), accept);
}

Layout memory_layout(const Operation& operation, Kernel& kernel, const Target& target) {
  return Classes(kernel).layout(operation, target);
}

}  // namespace cudacore::tile
