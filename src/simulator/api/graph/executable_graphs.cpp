// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs: instantiating, launching and updating them.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/stream/capture.hpp"

using namespace cudacore::simulator;

namespace {

constexpr cuuint64_t known_flags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

bool can_be_disabled(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
         type == CU_GRAPH_NODE_TYPE_MEMSET;
}

/// Whether kernels could launch the graph. That itself is not simulated: such kernels don't load.
CUresult check_device_launch(const Graph& graph, cuuint64_t flags, GraphFlaw& flaw) {
  if (graph.nodes.empty() || (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "an empty graph, or one that frees memory when it is "
                  "launched, can't be launched by kernels");
  }
  for (const auto& node : graph.nodes) {
    const CUgraphNodeType type = node->action->type;
    if (can_be_disabled(type) || type == CU_GRAPH_NODE_TYPE_GRAPH ||
        type == CU_GRAPH_NODE_TYPE_EMPTY) {
      continue;
    }
    flaw = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node->handle};
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a graph that kernels launch can't have this node: " + node->action->text());
  }
  return CUDA_SUCCESS;
}

CUresult instantiate(CUgraphExec* handle, Graph& graph, cuuint64_t flags, GraphFlaw& flaw) {
  if (handle == nullptr || (flags & ~known_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (graph.owner != nullptr) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "the graph belongs to a node");
  }
  if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
    const CUresult result = check_device_launch(graph, flags, flaw);
    if (result != CUDA_SUCCESS) return result;
  }
  constexpr CUgraphNodeType single[]{CU_GRAPH_NODE_TYPE_MEM_ALLOC,  // NOLINT
                                     CU_GRAPH_NODE_TYPE_MEM_FREE, CU_GRAPH_NODE_TYPE_CONDITIONAL};
  if (!graph.instance.expired() && graph.has(single)) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "a graph with memory or conditional nodes is already instantiated");
  }
  GraphProgram program;
  if (const CUresult result = make_program(graph, program, flaw); result != CUDA_SUCCESS) {
    return result;
  }
  const auto executable = std::make_shared<ExecutableGraph>(std::move(program), flags);
  executable->instance = std::make_shared<char>();
  executable->handle = registry().executable_graphs.insert(executable);
  graph.instance = executable->instance;
  *handle = executable->handle;
  return CUDA_SUCCESS;
}

/// The old versions also write why it failed.
CUresult instantiate_with_log(CUgraphExec* handle, CUgraph graph_handle, CUgraphNode* flawed,
                              char* log, std::size_t size) {
  return graph_call(graph_handle, [&](Graph& graph) {
    GraphFlaw flaw;
    const CUresult result = instantiate(handle, graph, 0, flaw);
    if (flawed != nullptr) *flawed = flaw.node;
    constexpr std::string_view why = "the graph can't be executed";
    if (log != nullptr && size > 0) {
      const std::size_t length = result == CUDA_SUCCESS ? 0 : std::min(size - 1, why.size());
      std::memcpy(log, why.data(), length);
      log[length] = '\0';
    }
    return result;
  });
}

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* handle, CUgraph graph_handle,
                                     unsigned long long flags) {
  // There is no stream to upload on.
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) return CUDA_ERROR_INVALID_VALUE;
  return graph_call(graph_handle, [&](Graph& graph) {
    GraphFlaw flaw;
    return instantiate(handle, graph, flags, flaw);
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* handle, CUgraph graph_handle,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphFlaw flaw;
  const CUresult result = graph_call(graph_handle, [&](Graph& graph) {
    const CUresult made = instantiate(handle, graph, parameters->flags, flaw);
    if (made != CUDA_SUCCESS || (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0) {
      return made;
    }
    return cuGraphUpload(*handle, parameters->hUploadStream);
  });
  if (result != CUDA_SUCCESS && flaw.result == CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    flaw.result = CUDA_GRAPH_INSTANTIATE_ERROR;
  }
  parameters->result_out = flaw.result;
  parameters->hErrNode_out = flaw.node;
  return result;
}

CUresult cuGraphInstantiate(CUgraphExec* handle, CUgraph graph, CUgraphNode* flawed, char* log,
                            std::size_t size) {
  return instantiate_with_log(handle, graph, flawed, log, size);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* handle, CUgraph graph, CUgraphNode* flawed, char* log,
                               std::size_t size) {
  return instantiate_with_log(handle, graph, flawed, log, size);
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  return executable_call(handle, [&](const ExecutableGraph& executable) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = executable.flags & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return executable_call(handle, [&](ExecutableGraph&) {
    registry().executable_graphs.erase(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return executable_call(handle, [&](ExecutableGraph& executable) {
    return stream_call(stream_handle, [&](const std::shared_ptr<Stream>& stream) {
      return executable.launch(stream);
    });
  });
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  return executable_call(handle, [&](ExecutableGraph&) {
    // There is nothing to upload, but the stream must be able to take it.
    return stream_call(stream_handle, [&](const std::shared_ptr<Stream>& stream) {
      return stream->check_capture();
    });
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle,
                              CUgraphExecUpdateResultInfo* info) {
  if (info == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  return executable_call(handle, [&](ExecutableGraph& executable) {
    return graph_call(graph_handle, [&](Graph& graph) {
      if (graph.owner != nullptr || is_captured_into(graph)) return CUDA_ERROR_INVALID_VALUE;
      GraphProgram next;
      GraphFlaw flaw;
      const CUresult result = make_program(graph, next, flaw);
      if (result != CUDA_SUCCESS) return result;
      return executable.change(
          [&](GraphProgram& program) { return update_program(program, next, *info); });
    });
  });
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode* node,
                           CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult status = cuGraphExecUpdate_v2(handle, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return status;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned enabled) {
  return executable_call(handle, [&](ExecutableGraph& executable) {
    return executable.change_step(node, [&](GraphStep& step) {
      if (!can_be_disabled(step.action->type)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "nodes of this type can't be disabled");
      }
      step.enabled = enabled != 0;
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned* enabled) {
  return executable_call(handle, [&](ExecutableGraph& executable) {
    if (enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return executable.change_step(node, [&](const GraphStep& step) {
      if (!can_be_disabled(step.action->type)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "nodes of this type can't be disabled");
      }
      *enabled = step.enabled ? 1 : 0;
      return CUDA_SUCCESS;
    });
  });
}

}  // extern "C"
