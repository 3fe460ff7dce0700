// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cudacore/error.hpp"
#include "cudacore/graph_definition.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "owner/graph_box.hpp"

namespace cudacore {

/// Refuses what the driver would refuse, and says why.
/// @throw InvalidValueError, without a code
[[noreturn]] inline void throw_invalid(const std::string& message) {
  throw InvalidValueError(message, 0, {}, {});
}

/// The driver, which must know graphs as CUDA 12.3 does.
/// @throw NotSupportedError
[[nodiscard]] const driver::DriverApi& graph_api();

/// What messages call a node.
[[nodiscard]] const char* kind_name(CUgraphNodeType type) noexcept;

/// The name of a kernel; empty if the driver doesn't tell.
[[nodiscard]] std::string function_name(const driver::DriverApi& api, CUfunction function);

/// A call on a graph: nothing else of its family is called meanwhile. Its context is whichever is
/// current.
class GraphCall : driver::NotCopied {
 public:
  /// @throw InvalidValueError if the graph went with the node that contained it.
  explicit GraphCall(const std::shared_ptr<owner::GraphBox>& graph);

  [[nodiscard]] const driver::DriverApi& api() const noexcept { return *api_; }
  [[nodiscard]] CUgraph graph() const noexcept { return graph_->graph; }
  /// The handle of a node of this graph.
  /// @throw InvalidValueError if it is of another graph, or destroyed.
  [[nodiscard]] CUgraphNode node(const GraphNode& node) const;
  void check(CUresult result, const char* function) const {
    error::check(result, function,
                 [this] { return "graph " + error::format_address(graph_->graph); });
  }

 private:
  const driver::DriverApi* api_;
  owner::GraphBox* graph_;
  std::unique_lock<std::mutex> lock_;
};

[[nodiscard]] std::size_t count_nodes(const GraphCall& call);

/// The handles of a graph's nodes, in the order in which they were added.
[[nodiscard]] std::vector<CUgraphNode> list_nodes(const GraphCall& call);

/// A call on a node.
class NodeCall : public GraphCall {
 public:
  explicit NodeCall(const GraphNode& node)
      : GraphCall(node.graph_box()), node_(GraphCall::node(node)) {}
  /// @throw std::invalid_argument unless the node is of this type.
  NodeCall(const GraphNode& node, CUgraphNodeType type);

  static void require(const GraphNode& node, bool fits, const char* wanted);
  [[nodiscard]] CUgraphNode handle() const noexcept { return node_; }

 private:
  CUgraphNode node_;
};

/// Adds a node that runs after those which `dependencies` lists, during the call on the graph.
GraphNode add_node(const std::shared_ptr<owner::GraphBox>& graph, const GraphWork& given,
                   const std::function<std::vector<CUgraphNode>(const GraphCall&)>& dependencies);

}  // namespace cudacore
