// SPDX-License-Identifier: Apache-2.0
//
// Nodes of graphs, whatever they do.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "simulator/api/code/kernel_action.hpp"
#include "simulator/api/graph/conditional_action.hpp"
#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/graph/graph_memory.hpp"
#include "simulator/api/memory/memory_actions.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/simple_actions.hpp"
#include "simulator/api/stream/values_action.hpp"

namespace cudacore::simulator {

namespace {

std::shared_ptr<Event> find_event(CUevent handle) { return registry().events.find(handle); }

CUresult make_event_action(CUgraphNodeType type, CUevent handle, SharedAction& action) {
  std::shared_ptr<Event> event = find_event(handle);
  if (event == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "not a live event");
  action = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? make_record_action(handle, std::move(event))
                                                   : make_wait_action(handle, std::move(event));
  return CUDA_SUCCESS;
}

/// Adds a node with a copy of a graph, or the graph itself.
CUresult add_child(Graph& graph, const Dependencies& dependencies,
                   CUDA_CHILD_GRAPH_NODE_PARAMS& parameters, GraphNode*& node) {
  std::shared_ptr<Graph> child = registry().graphs.find(parameters.graph);
  if (child == nullptr || child.get() == &graph.root()) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "not a graph that can be a child of this one");
  }
  if (parameters.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    constexpr CUgraphNodeType conditional[]{CU_GRAPH_NODE_TYPE_CONDITIONAL};  // NOLINT
    if (child->owner != nullptr || child->has(conditional)) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the graph can't be moved into another one");
    }
  } else {
    std::shared_ptr<Graph> copy;
    const CUresult result = child->clone(copy);
    if (result != CUDA_SUCCESS) return result;
    child = std::move(copy);
  }
  const CUgraph handle = child->handle;
  const CUresult result = graph.add_child(child, dependencies, node);
  if (result == CUDA_SUCCESS) {
    parameters.graph = handle;
  } else if (parameters.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    child->end();
  }
  return result;
}

/// The handle that a conditional node uses, in the graph or one that contains it.
Graph::ConditionalHandle* find_condition(Graph& graph, CUgraphConditionalHandle handle) {
  for (Graph* in = &graph;; in = in->owner->graph) {
    for (Graph::ConditionalHandle& candidate : in->conditions) {
      if (candidate.condition->handle == handle) return &candidate;
    }
    if (in->owner == nullptr) return nullptr;
  }
}

CUresult make_conditional(Graph& graph, const CUDA_CONDITIONAL_NODE_PARAMS& parameters,
                          SharedAction& action, Graph::ConditionalHandle*& handle) {
  handle = find_condition(graph, parameters.handle);
  if (handle == nullptr || handle->is_used) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "not a conditional handle of the graph, or another node uses it");
  }
  const auto most = [&]() -> unsigned {
    switch (parameters.type) {
      case CU_GRAPH_COND_TYPE_IF:
        return 2;
      case CU_GRAPH_COND_TYPE_WHILE:
        return 1;
      case CU_GRAPH_COND_TYPE_SWITCH:
        return UINT16_MAX;
      default:
        return 0;
    }
  }();
  if (parameters.size == 0 || parameters.size > most) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the conditional node can't have that many bodies");
  }
  action = std::make_shared<ConditionalAction>(handle->condition, parameters.type, parameters.size);
  return CUDA_SUCCESS;
}

CUresult add_node(Graph& graph, const Dependencies& dependencies, CUgraphNodeParams& parameters,
                  GraphNode*& node) {
  if (parameters.type == CU_GRAPH_NODE_TYPE_GRAPH) {
    return add_child(graph, dependencies, parameters.graph, node);
  }
  SharedAction action;
  Graph::ConditionalHandle* handle = nullptr;
  CUresult result = parameters.type == CU_GRAPH_NODE_TYPE_CONDITIONAL
                        ? make_conditional(graph, parameters.conditional, action, handle)
                        : make_action(parameters, nullptr, action);
  if (result == CUDA_SUCCESS) result = graph.add(action, dependencies, node);
  if (result != CUDA_SUCCESS) return result;
  if (handle != nullptr) {
    handle->is_used = true;
    parameters.conditional.phGraph_out = node->body_handles.data();
  }
  return CUDA_SUCCESS;
}

/// A new action of the same type for a node. INVALID_VALUE if it can't be changed.
CUresult change_action(const GraphAction& old, CUgraphNodeParams* parameters,
                       SharedAction& action) {
  if (parameters == nullptr || parameters->type != old.type) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the parameters are not those of the node's type");
  }
  switch (old.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return make_action(*parameters, &old, action);
    default:
      return refuse(CUDA_ERROR_INVALID_VALUE, "nodes of this type can't be changed");
  }
}

/// Gives an executable graph's child node the actions of another graph of the same form.
CUresult change_child(ExecutableGraph& executable, CUgraphNode handle, CUgraph child_handle) {
  return graph_call(child_handle, [&](const Graph& child) {
    GraphProgram next;
    GraphFlaw flaw;
    const CUresult result = make_program(child, next, flaw);
    if (result != CUDA_SUCCESS) return result;
    return executable.change([&](GraphProgram& program) {
      const auto found = program.by_node.find(handle);
      if (found == program.by_node.end() ||
          program.steps[found->second].action->type != CU_GRAPH_NODE_TYPE_GRAPH) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "not a child node of the executable graph");
      }
      return update_child(program, found->second, next);
    });
  });
}

}  // namespace

std::string GraphAction::text() const {
  constexpr std::array names{"kernel",     "copy", "fill",   "host function", "child",
                             "empty",      "wait", "record", "signal",        "semaphores",
                             "allocation", "free", "values", "conditional"};
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names.at(index) : "node";
}

CUresult make_action(CUgraphNodeParams& parameters, const GraphAction* old, SharedAction& action) {
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto& given = parameters.kernel;
      return make_kernel_action(
          {given.func, given.gridDimX, given.gridDimY, given.gridDimZ, given.blockDimX,
           given.blockDimY, given.blockDimZ, given.sharedMemBytes, given.kernelParams, given.extra,
           given.kern, given.ctx},
          old, action);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (parameters.memcpy.flags != 0 || parameters.memcpy.reserved != 0) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      return make_copy_action(parameters.memcpy.copyParams, parameters.memcpy.copyCtx, action);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& given = parameters.memset;
      return make_fill_action(
          {given.dst, given.pitch, given.value, given.elementSize, given.width, given.height},
          given.ctx, action);
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      if (parameters.host.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
      action = make_host_action(parameters.host.fn, parameters.host.userData);
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      action = std::make_shared<GraphAction>(CU_GRAPH_NODE_TYPE_EMPTY);
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return make_event_action(parameters.type, parameters.eventRecord.event, action);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return make_event_action(parameters.type, parameters.eventWait.event, action);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return make_alloc_action(parameters.alloc, action);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return make_free_action(parameters.free.dptr, action);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const auto& given = parameters.memOp;
      return make_values_action({given.ctx, given.count, given.paramArray, given.flags}, action);
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "external semaphores are not simulated");
    default:
      return refuse(CUDA_ERROR_INVALID_VALUE, "no node has this type");
  }
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuGraphAddNode_v2(CUgraphNode* handle, CUgraph graph_handle,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                           std::size_t count, CUgraphNodeParams* parameters) {
  return graph_call(graph_handle, [&](Graph& graph) {
    if (handle == nullptr || parameters == nullptr || (dependencies == nullptr && count != 0)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    GraphNode* node = nullptr;
    const CUresult result = add_node(graph, {{dependencies, count}, data}, *parameters, node);
    if (result == CUDA_SUCCESS) *handle = node->handle;
    return result;
  });
}
CUresult cuGraphAddNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies,
                        std::size_t count, CUgraphNodeParams* parameters) {
  return cuGraphAddNode_v2(handle, graph, dependencies, nullptr, count, parameters);
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return node_call(handle, [](GraphNode& node) {
    if (node.graph->has(memory_nodes)) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "nodes of graphs with memory nodes can't be destroyed");
    }
    if (is_captured_into(*node.graph)) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "a stream captures into the graph");
    }
    node.graph->remove(node);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return node_call(handle, [&](const GraphNode& node) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = node.action->type;
    return CUDA_SUCCESS;
  });
}

/// Newer than the oldest <cuda.h> that this is built with.
[[gnu::visibility("default")]] CUresult cuGraphNodeGetParams(CUgraphNode handle,
                                                             CUgraphNodeParams* parameters) {
  return node_call(handle, [&](const GraphNode& node) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *parameters = {};
    parameters->type = node.action->type;
    node.action->describe(*parameters);
    if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH) {
      parameters->graph.graph = node.body_handles.front();
    } else if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      // NOLINTNEXTLINE: cuda.h has no const here
      parameters->conditional.phGraph_out = const_cast<CUgraph*>(node.body_handles.data());
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* parameters) {
  return node_call(handle, [&](GraphNode& node) {
    SharedAction action;
    const CUresult result = change_action(*node.action, parameters, action);
    if (result == CUDA_SUCCESS) node.action = std::move(action);
    return result;
  });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                  CUgraphNodeParams* parameters) {
  return executable_call(handle, [&](ExecutableGraph& executable) {
    if (parameters != nullptr && parameters->type == CU_GRAPH_NODE_TYPE_GRAPH) {
      return change_child(executable, node, parameters->graph.graph);
    }
    return executable.change_step(node, [&](GraphStep& step) {
      SharedAction action;
      const CUresult result = change_action(*step.action, parameters, action);
      if (result != CUDA_SUCCESS) return result;
      if (step.action->can_become(*action) != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "an executable graph's node can't be changed to this: " + action->text());
      }
      step.action = std::move(action);
      return CUDA_SUCCESS;
    });
  });
}

}  // extern "C"
