// SPDX-License-Identifier: Apache-2.0
//
// Graphs: nodes, and which of them must be complete before others.
//
// A graph belongs to its handle, or to the node that has it as its child or body. As in the real
// driver, one thread at a time may use a graph; only captures lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "simulator/api/entry.hpp"
#include "simulator/api/graph/graph_action.hpp"
#include "simulator/api/graph/user_object.hpp"
#include "simulator/engine/conditions.hpp"

namespace cudacore::simulator {

struct GraphNode;

/// One end of an edge, as the node at the other end sees it.
struct GraphEdge {
  GraphNode* node = nullptr;
  CUgraphEdgeData data{};
};

/// The nodes that a new node depends on, as a program or a capture passes them.
struct Dependencies {
  std::span<const CUgraphNode> nodes;
  const CUgraphEdgeData* data = nullptr;  ///< one for each node, or null
};

struct GraphNode {
  CUgraphNode handle = nullptr;
  Graph* graph = nullptr;
  SharedAction action;
  std::vector<std::shared_ptr<Graph>> bodies;  ///< of child and conditional nodes
  std::vector<CUgraph> body_handles;           ///< the same
  std::vector<GraphEdge> dependencies;
  std::vector<GraphEdge> dependents;
  CUgraphNode original = nullptr;  ///< the node that it was cloned from
};

class Graph {
 public:
  /// Creates a graph and its handle. @throws std::bad_alloc
  static std::shared_ptr<Graph> create();
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  CUgraph handle = nullptr;
  GraphNode* owner = nullptr;                     ///< the node whose child or body it is
  bool is_body = false;                           ///< of a conditional node
  bool is_capturing = false;                      ///< guarded by the captures' mutex
  std::vector<std::shared_ptr<GraphNode>> nodes;  ///< in the order in which they were added
  std::vector<UserReferences> user_objects;

  struct ConditionalHandle {
    std::shared_ptr<Condition> condition;
    unsigned initial = 0;
    unsigned flags = 0;
    bool is_used = false;  ///< by a node
  };
  std::vector<ConditionalHandle> conditions;

  std::weak_ptr<const void> instance;  ///< lives as long as the newest executable graph made of it

  /// Adds a node, and creates its bodies. INVALID_VALUE if a dependency is given twice, or is not a
  /// node of this graph.
  CUresult add(SharedAction action, const Dependencies& dependencies, GraphNode*& node);
  /// Adds a node that executes a graph, which it takes over.
  CUresult add_child(std::shared_ptr<Graph> child, const Dependencies& dependencies,
                     GraphNode*& node);
  CUresult connect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data);
  /// INVALID_VALUE if there is no such edge.
  CUresult disconnect(GraphNode& from, GraphNode& to, const CUgraphEdgeData* data);
  void remove(GraphNode& node);

  /// A copy without memory and conditional nodes, which can't be copied: NOT_SUPPORTED.
  CUresult clone(std::shared_ptr<Graph>& copy) const;
  /// Whether it, or a graph in it, has a node of one of the types.
  [[nodiscard]] bool has(std::span<const CUgraphNodeType> types) const;
  /// The graph that contains all others that contain this one.
  [[nodiscard]] Graph& root() noexcept;

  /// Invalidates its handle, those of its nodes, and those of the graphs in it.
  void end() noexcept;

 private:
  CUresult check(const Dependencies& dependencies) const;
};

/// Memory nodes, which forbid to remove nodes and edges, to clone, and to instantiate twice.
inline constexpr CUgraphNodeType memory_nodes[]{CU_GRAPH_NODE_TYPE_MEM_ALLOC,  // NOLINT
                                                CU_GRAPH_NODE_TYPE_MEM_FREE};

/// CUresult body(Graph&), for a live graph.
template <class Body>
CUresult graph_call(CUgraph handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<Graph> graph = registry().graphs.find(handle);
    if (graph == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "not a live graph");
    return body(*graph);
  });
}

/// CUresult body(GraphNode&), for a live node.
template <class Body>
CUresult node_call(CUgraphNode handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<GraphNode> node = registry().graph_nodes.find(handle);
    if (node == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "not a live node of a graph");
    return body(*node);
  });
}

}  // namespace cudacore::simulator
