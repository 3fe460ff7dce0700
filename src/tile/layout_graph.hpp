// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Which tiles' layouts follow from which others' without moving elements between threads.
class LayoutGraph {
 public:
  explicit LayoutGraph(Kernel& kernel);

  /// Gives a value a layout, and those that follow from it that have none. `accept` may refuse.
  void assign(Value* value, const Layout& layout,
              const std::function<bool(const Value&, const Layout&)>& accept);

  /// Gives those that follow from a value that has a layout, and have none, theirs.
  void propagate(Value* value, const std::function<bool(const Value&, const Layout&)>& accept);

 private:
  struct Edge {
    Value* to = nullptr;
    std::vector<int> map;  ///< of the bits; none: the same
    bool same = true;
  };

  void same(Value* a, Value* b);
  void one_way(Value* from, Value* to, std::vector<int> map);
  void add(const Operation& operation);
  void add_carried(const Operation& operation);

  std::unordered_map<Value*, std::vector<Edge>> edges_;
};

/// The layout that a result has if no element moves: of permute, reshape, reduce, scan, cat and so
/// on, from the layouts of the operands. Empty for other operations.
[[nodiscard]] Layout natural_layout(const Operation& operation);

}  // namespace cudacore::tile
