// SPDX-License-Identifier: Apache-2.0
//
// Graphs: creating, destroying, cloning and listing them.
#include <algorithm>
#include <memory>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/graph/graph.hpp"
#include "simulator/api/stream/capture.hpp"

using namespace cudacore::simulator;

namespace {

/// Writes as many handles as fit, and how many there are. Without an array, only the latter.
template <class Nodes>
CUresult list(const Nodes& found, CUgraphNode* nodes, std::size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      nodes[i] = i < found.size() ? found[i]->handle : nullptr;
    }
  }
  *count = nodes != nullptr ? std::min(*count, found.size()) : found.size();
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* handle, unsigned flags) {
  return driver_call([&] {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = Graph::create()->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return graph_call(handle, [](Graph& graph) {
    if (graph.owner != nullptr || is_captured_into(graph)) {
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "the graph belongs to a node, or a stream captures into it");
    }
    graph.end();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphClone(CUgraph* copy, CUgraph original) {
  return graph_call(original, [&](const Graph& graph) {
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Graph> made;
    const CUresult result = graph.clone(made);
    if (result == CUDA_SUCCESS) *copy = made->handle;
    return result;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return graph_call(clone, [&](const Graph& graph) {
    if (found == nullptr || original == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& node : graph.nodes) {
      if (node->original != original) continue;
      *found = node->handle;
      return CUDA_SUCCESS;
    }
    return refuse(CUDA_ERROR_INVALID_VALUE, "the graph has no clone of the node");
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  return graph_call(handle, [&](const Graph& graph) { return list(graph.nodes, nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  return graph_call(handle, [&](const Graph& graph) {
    std::vector<const GraphNode*> roots;
    for (const auto& node : graph.nodes) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    return list(roots, nodes, count);
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph_handle,
                                        CUcontext context, unsigned initial, unsigned flags) {
  return graph_call(graph_handle, [&](Graph& graph) {
    if (handle == nullptr || (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = CUDA_SUCCESS;
    Context* current = nullptr;
    if (context == nullptr) {
      status = current_context(current);
    } else if (find_context(context, status) != nullptr) {
      status = CUDA_SUCCESS;
    }
    if (status != CUDA_SUCCESS) return status;
    std::shared_ptr<Condition> condition = Condition::create();
    *handle = condition->handle;
    graph.conditions.push_back({std::move(condition), initial, flags, false});
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
