// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <cudacore/graph_work.hpp>

struct CUgraphNode_st;
using CUgraphNode = CUgraphNode_st*;

namespace cudacore {

namespace owner {
struct NodeBox;
}

/// What a node does (CUgraphNodeType).
enum class GraphNodeKind : int {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  child_graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  semaphore_signal = 8,
  semaphore_wait = 9,
  allocation = 10,
  release = 11,
  batch_memory_operation = 12,
  conditional = 13,
};

/// A node of a GraphDefinition, which it keeps alive. Cheap to copy.
class GraphNode {
 public:
  [[nodiscard]] GraphDefinition graph() const;
  [[nodiscard]] CUgraphNode handle() const noexcept;
  [[nodiscard]] GraphNodeKind kind() const noexcept;
  /// Whether it has not been destroyed, nor the node that contains its graph.
  [[nodiscard]] bool is_valid() const noexcept;

  /// Removes the node and its edges from the graph; does nothing if that is done already.
  void destroy() const;
  /// Replaces its work with other work of the same kind (cuGraphNodeSetParams). Graphs that were
  /// made before are not affected.
  void update(const GraphWork& given) const;

  /// The nodes that it runs after, and those that run after it.
  [[nodiscard]] std::vector<GraphNode> predecessors() const;
  [[nodiscard]] std::vector<GraphNode> successors() const;

  /// The details by kind.
  /// @throw std::invalid_argument for a node of another kind.
  [[nodiscard]] Kernel kernel() const;
  [[nodiscard]] LaunchConfig config() const;
  /// What kernels know a node by that they may update: a CUgraphDeviceNode, which they take as a
  /// cudaGraphDeviceNode_t.
  /// @throw std::invalid_argument also unless LaunchAttributes::device_updatable_kernel_node was
  /// set.
  [[nodiscard]] std::uintptr_t device_node() const;
  [[nodiscard]] Event event() const;
  [[nodiscard]] GraphDefinition child_graph() const;
  struct Copy {
    CUdeviceptr destination = 0;
    CUdeviceptr source = 0;
    std::size_t size = 0;
  };
  [[nodiscard]] Copy copy() const;
  struct Fill {
    CUdeviceptr destination = 0;
    std::uint32_t value = 0;
    unsigned element_size = 1;
    std::size_t width = 0;
    std::size_t height = 1;
    std::size_t pitch = 0;
  };
  [[nodiscard]] Fill fill() const;
  [[nodiscard]] GraphAllocation allocation() const;
  /// The address that a node of GraphWork::deallocate() frees.
  [[nodiscard]] CUdeviceptr released() const;
  /// Of a conditional node: its branches, which can be built like any definition; what it reads;
  /// and how. Empty for one that was not made here, because the driver doesn't tell.
  [[nodiscard]] std::vector<GraphDefinition> branches() const;
  [[nodiscard]] std::optional<GraphCondition> condition() const;
  [[nodiscard]] std::optional<ConditionKind> condition_kind() const;
  /// What GraphWork::keep() was given first.
  [[nodiscard]] std::shared_ptr<void> first_kept() const;

  GraphNode(std::shared_ptr<owner::GraphBox> graph, std::shared_ptr<owner::NodeBox> box) noexcept
      : graph_(std::move(graph)), box_(std::move(box)) {}
  [[nodiscard]] const std::shared_ptr<owner::GraphBox>& graph_box() const noexcept {
    return graph_;
  }
  [[nodiscard]] const std::shared_ptr<owner::NodeBox>& box() const noexcept { return box_; }
  friend bool operator==(const GraphNode& a, const GraphNode& b) noexcept {
    return a.box_ == b.box_;
  }

 private:
  std::shared_ptr<owner::GraphBox> graph_;
  std::shared_ptr<owner::NodeBox> box_;
};

}  // namespace cudacore
