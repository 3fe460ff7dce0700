// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
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

using Uses = std::vector<std::shared_ptr<Kept>>;

/// A node, as long as its graph has it.
struct NodeBox : driver::NotCopied {
  CUgraphNode node = nullptr;  ///< null once it is destroyed
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<Kept> kept;                   ///< null for nodes that were made elsewhere
  std::vector<GraphBox*> graphs;                ///< what it contains
  CUgraphConditionalHandle condition = 0;       ///< of a conditional node that was made here
  CUgraphConditionalNodeType condition_kind{};  ///< of the same
  std::uint64_t addition = 0;                   ///< its number; 0 for a node that was found
  /// Launch attributes that a kernel node was given here, besides those of the shape. The others
  /// have the device's defaults, which differ.
  std::vector<CUlaunchAttributeID> attributes;
};

struct GraphBox : driver::NotCopied {
  CUgraph graph = nullptr;     ///< null once the node that contains it is destroyed
  GraphBox* outer = nullptr;   ///< the graph of the node that contains this one
  bool is_captured = false;    ///< still belongs to the capture of a stream
  bool is_handed_out = false;  ///< of the outermost: other code works with a graph of the family
  std::mutex family;           ///< of the outermost: guards the graph and all inside it
  std::map<CUgraphNode, std::shared_ptr<NodeBox>> nodes;
  std::list<std::shared_ptr<Kept>> captured;  ///< what captured work uses
  std::vector<CUstream> streams;              ///< that have waited in the capture; for messages
  /// Of the outermost: how many nodes have been added to the family, besides captured ones.
  std::uint64_t additions = 0;
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
  /// Lists what the graph uses, with all inside it. With the lock.
  void list_uses(Uses& uses) const;
  /// Lets the driver keep what a node of this graph is about to use, if other code works with the
  /// graph. With the lock.
  void keep_for_others(const driver::DriverApi& api, const std::shared_ptr<Kept>& kept);

  /// What has ended; to be dropped without the lock, since that may run anything.
  struct Ended {
    std::multimap<CUgraphNode, std::shared_ptr<NodeBox>> nodes;
    std::list<std::shared_ptr<Kept>> captured;
  };
  /// Notes that a node of this graph is destroyed, and what it contains. With the lock; the caller
  /// holds a share of the box.
  void forget(NodeBox& node, Ended& ended) noexcept;
  /// Notes that the graph is gone, and all that is inside it. With the lock.
  void end(Ended& ended) noexcept;
};

/// What the launches of an executable graph use. It outlives the graph by as long as they last.
struct LaunchedUses {
  Uses uses;                                                       ///< what the definition used
  std::unordered_map<CUgraphNode, std::shared_ptr<Kept>> updated;  ///< and single nodes since
  /// What was used before an update, in order, and an event after which no launch uses it.
  struct Outdated {
    std::shared_ptr<EventBox> unused_after;
    Uses uses;
  };
  std::deque<Outdated> outdated;
  /// The stream of the last launch, which does not end before this; or an event behind the launch
  /// if the stream is not ours, and may be gone.
  std::shared_ptr<StreamBox> last_stream;
  std::shared_ptr<EventBox> last_launch;
};

/// An executable graph.
struct ExecutableBox : driver::NotCopied, LaunchedUses {
  CUgraphExec executable = nullptr;
  std::shared_ptr<error::ContextBox> context;
  const char* interned_name = nullptr;
  std::weak_ptr<GraphBox> source;   ///< whose nodes stand for those of the executable graph
  std::uint64_t last_addition = 0;  ///< to the source, that the executable graph has
  bool keeps_memory = false;        ///< allocates, and its launches don't free that first
  std::mutex mutex;                 ///< the driver allows one call at a time
  const unsigned made_after = error::resets.load(std::memory_order_relaxed);
  ~ExecutableBox();
};

}  // namespace cudacore::owner
