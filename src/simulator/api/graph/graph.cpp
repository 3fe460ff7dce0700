// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/graph/graph.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "simulator/api/graph/conditional_action.hpp"
#include "simulator/api/graph/graph_memory.hpp"

namespace cudacore::simulator {

namespace {

bool is_same(const CUgraphEdgeData& a, const CUgraphEdgeData& b) noexcept {
  return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}

auto find_edge(std::vector<GraphEdge>& edges, const GraphNode& node) {
  return std::ranges::find(edges, &node, &GraphEdge::node);
}

/// Whether an edge from a node may have the data.
CUresult check_edge(const GraphNode& from, const CUgraphEdgeData& data) {
  const bool is_kernel = from.action->type == CU_GRAPH_NODE_TYPE_KERNEL;
  const bool is_programmatic = data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  const bool has_port = data.from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
  if (data.to_port == 0 && data.type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
      data.from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER &&
      (is_kernel || (!has_port && !is_programmatic)) && (!is_programmatic || has_port)) {
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_INVALID_VALUE, "no edge has this data");
}

/// Calls that walk through a graph and those inside it have a frame of the stack for each level.
constexpr std::size_t most_levels = 1000;

/// How many levels of graphs there are, down from this one.
std::size_t levels(const Graph& graph) {
  std::size_t below = 0;
  for (const auto& node : graph.nodes) {
    for (const auto& body : node->bodies) below = std::max(below, levels(*body));
  }
  return 1 + below;
}

/// NOT_SUPPORTED if a graph with so many levels can't be put into another.
CUresult check_levels(const Graph& outer, std::size_t inner) {
  std::size_t count = inner + 1;
  for (const GraphNode* owner = outer.owner; owner != nullptr; owner = owner->graph->owner) ++count;
  if (count <= most_levels) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_NOT_SUPPORTED,
                "the simulated device nests child graphs and bodies at most 1000 levels deep");
}

}  // namespace

std::shared_ptr<Graph> Graph::create() {
  auto graph = std::make_shared<Graph>();
  graph->handle = registry().graphs.insert(graph);
  return graph;
}

CUresult Graph::check(const Dependencies& dependencies) const {
  std::vector<CUgraphNode> seen;
  for (std::size_t i = 0; i < dependencies.nodes.size(); ++i) {
    const auto node = registry().graph_nodes.find(dependencies.nodes[i]);
    if (node == nullptr || node->graph != this) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "a dependency is not a node of the graph");
    }
    if (std::ranges::find(seen, node->handle) != seen.end()) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "a dependency is given twice");
    }
    seen.push_back(node->handle);
    if (dependencies.data == nullptr) continue;
    const CUresult result = check_edge(*node, dependencies.data[i]);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult Graph::add(SharedAction action, const Dependencies& dependencies, GraphNode*& node) {
  if (const CUresult result = check(dependencies); result != CUDA_SUCCESS) return result;
  if (action->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    if (const CUresult result = check_levels(*this, 1); result != CUDA_SUCCESS) return result;
  }
  if (const CUresult result = claim_memory(*action, *this); result != CUDA_SUCCESS) return result;
  auto added = std::make_shared<GraphNode>();
  added->graph = this;
  added->action = std::move(action);
  if (const auto* conditional = dynamic_cast<const ConditionalAction*>(added->action.get())) {
    for (unsigned i = 0; i < conditional->size; ++i) {
      added->bodies.push_back(create());
      added->bodies.back()->owner = added.get();
      added->bodies.back()->is_body = true;
      added->body_handles.push_back(added->bodies.back()->handle);
    }
  }
  nodes.push_back(added);
  added->handle = registry().graph_nodes.insert(added);
  for (std::size_t i = 0; i < dependencies.nodes.size(); ++i) {
    const auto from = registry().graph_nodes.find(dependencies.nodes[i]);
    const CUgraphEdgeData data =
        dependencies.data != nullptr ? dependencies.data[i] : CUgraphEdgeData{};
    added->dependencies.push_back({from.get(), data});
    from->dependents.push_back({added.get(), data});
  }
  node = added.get();
  return CUDA_SUCCESS;
}

CUresult Graph::add_child(std::shared_ptr<Graph> child, const Dependencies& dependencies,
                          GraphNode*& node) {
  static const auto action = std::make_shared<const GraphAction>(CU_GRAPH_NODE_TYPE_GRAPH);
  CUresult result = check_levels(*this, levels(*child));
  if (result == CUDA_SUCCESS) result = add(action, dependencies, node);
  if (result != CUDA_SUCCESS) return result;
  child->owner = node;
  node->body_handles.push_back(child->handle);
  node->bodies.push_back(std::move(child));
  return CUDA_SUCCESS;
}

CUresult Graph::connect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data) {
  if (const CUresult result = check_edge(from, data); result != CUDA_SUCCESS) return result;
  if (&from == &to || find_edge(to.dependencies, from) != to.dependencies.end()) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the edge exists already, or leads to its own node");
  }
  to.dependencies.push_back({&from, data});
  from.dependents.push_back({&to, data});
  return CUDA_SUCCESS;
}

CUresult Graph::disconnect(GraphNode& from, GraphNode& to, const CUgraphEdgeData* data) {
  const auto edge = find_edge(to.dependencies, from);
  if (edge == to.dependencies.end() || (data != nullptr && !is_same(edge->data, *data))) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "there is no such edge");
  }
  to.dependencies.erase(edge);
  from.dependents.erase(find_edge(from.dependents, to));
  return CUDA_SUCCESS;
}

void Graph::remove(GraphNode& node) {
  for (const GraphEdge& edge : node.dependencies) {
    edge.node->dependents.erase(find_edge(edge.node->dependents, node));
  }
  for (const GraphEdge& edge : node.dependents) {
    edge.node->dependencies.erase(find_edge(edge.node->dependencies, node));
  }
  for (const auto& body : node.bodies) body->end();
  registry().graph_nodes.erase(node.handle);
  std::erase_if(nodes, [&](const auto& candidate) { return candidate.get() == &node; });
}

CUresult Graph::clone(std::shared_ptr<Graph>& copy) const {
  constexpr CUgraphNodeType fixed[]{CU_GRAPH_NODE_TYPE_MEM_ALLOC,  // NOLINT
                                    CU_GRAPH_NODE_TYPE_MEM_FREE, CU_GRAPH_NODE_TYPE_CONDITIONAL};
  if (has(fixed)) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "graphs with memory or conditional nodes can't be cloned");
  }
  const std::shared_ptr<Graph> made = create();
  made->user_objects = user_objects;
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes) {
    GraphNode* added = nullptr;
    CUresult result = CUDA_SUCCESS;
    if (node->bodies.empty()) {
      result = made->add(node->action, {}, added);
    } else {
      std::shared_ptr<Graph> child;
      result = node->bodies.front()->clone(child);
      if (result == CUDA_SUCCESS) result = made->add_child(std::move(child), {}, added);
    }
    if (result != CUDA_SUCCESS) return result;
    added->original = node->handle;
    copies.emplace(node.get(), added);
  }
  const auto copy_edges = [&](const std::vector<GraphEdge>& edges) {
    std::vector<GraphEdge> copied;
    copied.reserve(edges.size());
    for (const GraphEdge& edge : edges) copied.push_back({copies.at(edge.node), edge.data});
    return copied;
  };
  for (const auto& node : nodes) {
    copies.at(node.get())->dependencies = copy_edges(node->dependencies);
    copies.at(node.get())->dependents = copy_edges(node->dependents);
  }
  copy = made;
  return CUDA_SUCCESS;
}

bool Graph::has(std::span<const CUgraphNodeType> types) const {
  return std::ranges::any_of(nodes, [&](const auto& node) {
    return std::ranges::find(types, node->action->type) != types.end() ||
           std::ranges::any_of(node->bodies, [&](const auto& body) { return body->has(types); });
  });
}

Graph& Graph::root() noexcept { return owner != nullptr ? owner->graph->root() : *this; }

void Graph::end() noexcept {
  for (const auto& node : nodes) {
    for (const auto& body : node->bodies) body->end();
    registry().graph_nodes.erase(node->handle);
  }
  registry().graphs.erase(handle);
}

}  // namespace cudacore::simulator
