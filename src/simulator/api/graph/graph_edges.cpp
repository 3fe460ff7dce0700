// SPDX-License-Identifier: Apache-2.0
//
// The edges of graphs.
#include <algorithm>
#include <vector>

#include "simulator/api/graph/graph.hpp"

using namespace cudacore::simulator;

namespace {

struct Edge {
  CUgraphNode from;
  CUgraphNode to;
  CUgraphEdgeData data;
};

/// Where a caller wants edges. What it doesn't want is null.
struct Lists {
  CUgraphNode* from;
  CUgraphNode* to;
  CUgraphEdgeData* data;
  std::size_t* count;
};

bool is_plain(const CUgraphEdgeData& data) {
  return data.from_port == 0 && data.to_port == 0 && data.type == 0;
}

CUresult list(const std::vector<Edge>& edges, const Lists& lists) {
  if (lists.count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_listed = lists.from != nullptr || lists.to != nullptr;
  if (!is_listed) {
    if (lists.data != nullptr) return CUDA_ERROR_INVALID_VALUE;
    *lists.count = edges.size();
    return CUDA_SUCCESS;
  }
  if (lists.data == nullptr && !std::ranges::all_of(edges, is_plain, &Edge::data)) {
    return refuse(CUDA_ERROR_LOSSY_QUERY, "the edges have data, which is not asked for");
  }
  for (std::size_t i = 0; i < *lists.count; ++i) {
    const Edge edge = i < edges.size() ? edges[i] : Edge{};
    if (lists.from != nullptr) lists.from[i] = edge.from;
    if (lists.to != nullptr) lists.to[i] = edge.to;
    if (lists.data != nullptr) lists.data[i] = edge.data;
  }
  *lists.count = std::min(*lists.count, edges.size());
  return CUDA_SUCCESS;
}

CUresult list_all(CUgraph handle, const Lists& lists) {
  return graph_call(handle, [&](const Graph& graph) {
    if ((lists.from == nullptr) != (lists.to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<Edge> edges;
    for (const auto& node : graph.nodes) {
      for (const GraphEdge& edge : node->dependents) {
        edges.push_back({node->handle, edge.node->handle, edge.data});
      }
    }
    return list(edges, lists);
  });
}

/// The edges at one side of a node.
CUresult list_at(CUgraphNode handle, std::vector<GraphEdge> GraphNode::*side, CUgraphNode* nodes,
                 CUgraphEdgeData* data, std::size_t* count) {
  return node_call(handle, [&](const GraphNode& node) {
    std::vector<Edge> edges;
    for (const GraphEdge& edge : node.*side) edges.push_back({edge.node->handle, {}, edge.data});
    return list(edges, {nodes, nullptr, data, count});
  });
}

/// Calls CUresult apply(Graph&, from, to, data) for each pair. If one fails, those before it stay.
template <class Apply>
CUresult each(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
              const CUgraphEdgeData* data, std::size_t count, Apply&& apply) {
  return graph_call(handle, [&](Graph& graph) {
    if (count == 0) return CUDA_SUCCESS;
    if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = registry().graph_nodes.find(from[i]);
      const auto second = registry().graph_nodes.find(to[i]);
      if (first == nullptr || second == nullptr || first->graph != &graph ||
          second->graph != &graph) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "an edge's node is not one of the graph");
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const CUresult result =
          apply(graph, *registry().graph_nodes.find(from[i]), *registry().graph_nodes.find(to[i]),
                data != nullptr ? data[i] : CUgraphEdgeData{});
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, std::size_t* count) {
  return list_all(graph, {from, to, data, count});
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       std::size_t* count) {
  return list_at(node, &GraphNode::dependencies, nodes, data, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, std::size_t* count) {
  return list_at(node, &GraphNode::dependents, nodes, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
  return each(handle, from, to, data, count,
              [](Graph& graph, GraphNode& first, GraphNode& second, const CUgraphEdgeData& with) {
                return graph.connect(first, second, with);
              });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from,
                                      const CUgraphNode* to, const CUgraphEdgeData* data,
                                      std::size_t count) {
  return each(handle, from, to, data, count,
              [&](Graph& graph, GraphNode& first, GraphNode& second, const CUgraphEdgeData& with) {
                if (graph.has(memory_nodes)) {
                  return refuse(CUDA_ERROR_NOT_SUPPORTED,
                                "edges of graphs with memory nodes can't be removed");
                }
                return graph.disconnect(first, second, data != nullptr ? &with : nullptr);
              });
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

}  // extern "C"
