// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "error/context_box.hpp"
#include "owner/owned_handles.hpp"
#include "owner/user_object.hpp"

// The owners of graphs. A graph that a node contains belongs to the graph of that node: its box is
// part of the other's, and shares of it share the outermost one.

namespace cudacore::owner {

struct GraphBox;

/// A node, as long as its graph has it.
struct NodeBox : driver::NotCopied {
  CUgraphNode node = nullptr;  ///< null once it is destroyed
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<Kept> kept;     ///< null for nodes that were made elsewhere, and while unneeded
  CUuserObject object = nullptr;  ///< by which the graph keeps it
  std::vector<GraphBox*> graphs;  ///< what it contains
  CUgraphConditionalHandle condition = 0;       ///< of a conditional node that was made here
  CUgraphConditionalNodeType condition_kind{};  ///< of the same
};

struct GraphBox : driver::NotCopied {
  CUgraph graph = nullptr;    ///< null once the node that contains it is destroyed
  GraphBox* outer = nullptr;  ///< the graph of the node that contains this one
  bool is_captured = false;   ///< still belongs to the capture of a stream
  std::mutex family;          ///< of the outermost: guards the graph and all inside it
  std::unordered_map<CUgraphNode, std::shared_ptr<NodeBox>> nodes;
  std::vector<std::unique_ptr<GraphBox>> inner;
  const unsigned made_after = error::resets.load(std::memory_order_relaxed);
  ~GraphBox();

  [[nodiscard]] GraphBox& outermost() noexcept {
    return outer == nullptr ? *this : outer->outermost();
  }
  /// The box of a node of this graph, made on first use. With the lock.
  const std::shared_ptr<NodeBox>& box_of(const driver::DriverApi& api, CUgraphNode node);
  /// The box of a graph that a node of this graph contains, made on first use. With the lock.
  GraphBox& box_inside(NodeBox& node, CUgraph contained);
  /// Notes that a node of this graph is destroyed, and what it contains. With the lock; the caller
  /// holds a share of the box.
  void forget(NodeBox& node) noexcept;
  /// Notes that the graph is gone, and all that is inside it. With the lock.
  void end() noexcept;
};

/// An executable graph.
struct ExecutableBox : driver::NotCopied {
  CUgraphExec executable = nullptr;
  std::shared_ptr<error::ContextBox> context;
  const char* interned_name = nullptr;
  std::weak_ptr<GraphBox> source;  ///< whose nodes stand for those of the executable graph
  std::mutex mutex;                ///< the driver allows one call at a time
  /// What single nodes were updated to use, which the driver does not keep, and what they used
  /// before, which a launch may still use.
  std::unordered_map<CUgraphNode, std::shared_ptr<Kept>> updated;
  std::vector<std::shared_ptr<Kept>> outdated;
  std::shared_ptr<EventBox> last_launch;  ///< once there are updates
  const unsigned made_after = error::resets.load(std::memory_order_relaxed);
  ~ExecutableBox();
};

}  // namespace cudacore::owner
