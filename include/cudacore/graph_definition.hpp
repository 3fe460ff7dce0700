// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cudacore/graph.hpp>
#include <cudacore/graph_node.hpp>

struct CUgraph_st;
using CUgraph = CUgraph_st*;

// Graphs: work that is described once and launched many times, as a whole.
//
//   GraphDefinition  what is to be done, and in which order; it can be edited
//   GraphNode        one piece of its work
//   GraphWork        what a node does; made before the node
//   GraphCondition   a number that kernels set, and by which conditional nodes run their branches
//   Graph            what the driver made of a definition; it can be launched
//
// A definition, its embedded copies and every Graph made from it keep the kernels, events,
// callbacks and buffers that their nodes use, also while they run.

namespace cudacore {

/// How a Graph is made from a definition.
struct GraphCompleteOptions {
  bool auto_free_on_launch = false;       ///< frees what an earlier launch allocated and left
  std::optional<Stream> upload_stream{};  ///< uploads the graph to the device on this stream
  bool device_launch = false;             ///< can be launched by kernels
  bool use_node_priority = false;         ///< by the nodes' priorities, not the stream's
};

/// A graph under construction. Cheap to copy; copies share one CUgraph. Any thread may use it.
class GraphDefinition {
 public:
  /// An empty graph (cuGraphCreate).
  GraphDefinition();
  explicit GraphDefinition(std::shared_ptr<owner::GraphBox> box) noexcept : box_(std::move(box)) {}

  [[nodiscard]] CUgraph handle() const;
  /// Whether the node that contains it, if any, has not been destroyed.
  [[nodiscard]] bool is_valid() const noexcept;

  /// Adds a node, which runs after the given nodes of the same graph (cuGraphAddNode).
  /// @throw InvalidValueError if one is of another graph, or destroyed.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the node needn't be used
  GraphNode add(const GraphWork& work, std::span<const GraphNode> after = {}) const;
  /// All nodes, in the order in which they were added.
  [[nodiscard]] std::vector<GraphNode> nodes() const;
  [[nodiscard]] std::size_t node_count() const;
  /// All edges: the second node runs after the first.
  [[nodiscard]] std::vector<std::pair<GraphNode, GraphNode>> edges() const;
  /// Makes `to` run after `from`, and no longer so.
  /// @throw InvalidValueError for nodes of another graph, for an edge that would close a cycle,
  /// that exists already, or that does not exist.
  void add_edge(const GraphNode& from, const GraphNode& to) const;
  void remove_edge(const GraphNode& from, const GraphNode& to) const;

  /// Makes a condition for a conditional node of this graph (cuGraphConditionalHandleCreate). With
  /// a default value, it has that at the start of each launch; otherwise it keeps its value.
  [[nodiscard]] GraphCondition create_condition(
      const std::optional<unsigned>& default_value = {}) const;

  /// Makes an executable graph (cuGraphInstantiateWithParams).
  [[nodiscard]] Graph instantiate(const GraphCompleteOptions& options = {}) const;
  /// Writes the graph to a file as Graphviz text (cuGraphDebugDotPrint); `flags` are
  /// CUgraphDebugDot_flags.
  void write_dot(const std::string& path, unsigned flags = 0) const;

  [[nodiscard]] const std::shared_ptr<owner::GraphBox>& box() const noexcept { return box_; }
  friend bool operator==(const GraphDefinition& a, const GraphDefinition& b) noexcept {
    return a.box_ == b.box_;
  }

 private:
  std::shared_ptr<owner::GraphBox> box_;
};

}  // namespace cudacore
