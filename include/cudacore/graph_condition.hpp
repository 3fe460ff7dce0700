// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace cudacore {

namespace owner {
struct GraphBox;
}

/// How often a conditional node runs its branches (CUgraphConditionalNodeType).
enum class ConditionKind : int {
  if_ = 0,      ///< the first branch if the condition is not 0, otherwise the second, if any
  while_ = 1,   ///< its branch again and again, as long as the condition is not 0
  switch_ = 2,  ///< the branch with the condition's number, if there is one
};

/// A number of one graph: kernels set it (cudaGraphSetConditional), and one conditional node reads
/// it. Cheap to copy. It doesn't keep the graph.
class GraphCondition {
 public:
  GraphCondition(std::uint64_t handle, std::weak_ptr<owner::GraphBox> graph) noexcept
      : handle_(handle), graph_(std::move(graph)) {}

  /// The CUgraphConditionalHandle, which kernels take as an argument.
  [[nodiscard]] std::uint64_t handle() const noexcept { return handle_; }
  [[nodiscard]] const std::weak_ptr<owner::GraphBox>& graph_box() const noexcept { return graph_; }
  friend bool operator==(const GraphCondition& a, const GraphCondition& b) noexcept {
    return a.handle_ == b.handle_;
  }

 private:
  std::uint64_t handle_;
  std::weak_ptr<owner::GraphBox> graph_;
};

}  // namespace cudacore
