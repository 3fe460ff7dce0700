// SPDX-License-Identifier: Apache-2.0
//
// The functions for single types of nodes. Each puts its arguments into the parameters of
// cuGraphAddNode and its like.
#include <memory>

#include "simulator/api/graph/graph.hpp"

using namespace cudacore::simulator;

namespace {

CUgraphNodeParams with_type(CUgraphNodeType type) {
  CUgraphNodeParams all{};
  all.type = type;
  return all;
}

/// CUDA_KERNEL_NODE_PARAMS_v1 has no kernel and no context.
CUgraphNodeParams all_of(const CUDA_KERNEL_NODE_PARAMS_v1& given) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_KERNEL);
  all.kernel.func = given.func;
  all.kernel.gridDimX = given.gridDimX;
  all.kernel.gridDimY = given.gridDimY;
  all.kernel.gridDimZ = given.gridDimZ;
  all.kernel.blockDimX = given.blockDimX;
  all.kernel.blockDimY = given.blockDimY;
  all.kernel.blockDimZ = given.blockDimZ;
  all.kernel.sharedMemBytes = given.sharedMemBytes;
  all.kernel.kernelParams = given.kernelParams;
  all.kernel.extra = given.extra;
  return all;
}
CUgraphNodeParams all_of(const CUDA_KERNEL_NODE_PARAMS& given) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_KERNEL);
  all.kernel = {given.func,         given.gridDimX,  given.gridDimY,  given.gridDimZ,
                given.blockDimX,    given.blockDimY, given.blockDimZ, given.sharedMemBytes,
                given.kernelParams, given.extra,     given.kern,      given.ctx};
  return all;
}
CUgraphNodeParams all_of(const CUDA_MEMCPY3D& given, CUcontext context) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_MEMCPY);
  all.memcpy.copyCtx = context;
  all.memcpy.copyParams = given;
  return all;
}
CUgraphNodeParams all_of(const CUDA_MEMSET_NODE_PARAMS& given, CUcontext context) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_MEMSET);
  all.memset = {given.dst,   given.pitch,  given.value, given.elementSize,
                given.width, given.height, context};
  return all;
}
CUgraphNodeParams all_of(const CUDA_HOST_NODE_PARAMS& given) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_HOST);
  all.host.fn = given.fn;
  all.host.userData = given.userData;
  return all;
}
CUgraphNodeParams all_of(const CUDA_BATCH_MEM_OP_NODE_PARAMS& given) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  all.memOp = {given.ctx, given.count, given.paramArray, given.flags};
  return all;
}
CUgraphNodeParams all_of(CUgraphNodeType type, CUevent event) {
  CUgraphNodeParams all = with_type(type);
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    all.eventRecord.event = event;
  } else {
    all.eventWait.event = event;
  }
  return all;
}

/// Reads the parameters of a node of a type, if `out` is not null: CUresult write(parameters).
template <class Write>
CUresult read(CUgraphNode handle, CUgraphNodeType type, const void* out, Write&& write) {
  return node_call(handle, [&](const GraphNode& node) {
    if (out == nullptr || node.action->type != type) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "not a node of this type");
    }
    CUgraphNodeParams all = with_type(type);
    node.action->describe(all);
    write(all);
    return CUDA_SUCCESS;
  });
}

/// How a function passes parameters on.
struct Adding {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  std::size_t count;

  CUresult operator()(CUgraphNodeParams all) const {
    return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, &all);
  }
};
CUresult set(CUgraphNode node, CUgraphNodeParams all) { return cuGraphNodeSetParams(node, &all); }
CUresult set(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams all) {
  return cuGraphExecNodeSetParams(executable, node, &all);
}

}  // namespace

/// Functions that take one structure: add, set, and set in an executable graph.
#define CUDACORE_SIMULATOR_NODE_KIND(kind, version, Parameters)                                 \
  CUresult cuGraphAdd##kind##Node##version(CUgraphNode* node, CUgraph graph,                    \
                                           const CUgraphNode* dependencies, std::size_t count,  \
                                           const Parameters* given) {                           \
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;                                      \
    return Adding{node, graph, dependencies, count}(all_of(*given));                            \
  }                                                                                             \
  CUresult cuGraph##kind##NodeSetParams##version(CUgraphNode node, const Parameters* given) {   \
    return given != nullptr ? set(node, all_of(*given)) : CUDA_ERROR_INVALID_VALUE;             \
  }                                                                                             \
  CUresult cuGraphExec##kind##NodeSetParams##version(CUgraphExec executable, CUgraphNode node,  \
                                                     const Parameters* given) {                 \
    return given != nullptr ? set(executable, node, all_of(*given)) : CUDA_ERROR_INVALID_VALUE; \
  }
/// The same for those that also take a context.
#define CUDACORE_SIMULATOR_NODE_KIND_IN_CONTEXT(kind, Parameters, type, member)               \
  CUresult cuGraphAdd##kind##Node(CUgraphNode* node, CUgraph graph,                           \
                                  const CUgraphNode* dependencies, std::size_t count,         \
                                  const Parameters* given, CUcontext context) {               \
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;                                    \
    return Adding{node, graph, dependencies, count}(all_of(*given, context));                 \
  }                                                                                           \
  CUresult cuGraph##kind##NodeSetParams(CUgraphNode node, const Parameters* given) {          \
    CUcontext context = nullptr;                                                              \
    const CUresult result =                                                                   \
        read(node, type, given, [&](const CUgraphNodeParams& all) { context = all.member; }); \
    return result == CUDA_SUCCESS ? set(node, all_of(*given, context)) : result;              \
  }                                                                                           \
  CUresult cuGraphExec##kind##NodeSetParams(CUgraphExec executable, CUgraphNode node,         \
                                            const Parameters* given, CUcontext context) {     \
    return given != nullptr ? set(executable, node, all_of(*given, context))                  \
                            : CUDA_ERROR_INVALID_VALUE;                                       \
  }
/// Functions for events.
#define CUDACORE_SIMULATOR_EVENT_NODE(kind, type, member)                             \
  CUresult cuGraphAdd##kind##Node(CUgraphNode* node, CUgraph graph,                   \
                                  const CUgraphNode* dependencies, std::size_t count, \
                                  CUevent event) {                                    \
    return Adding{node, graph, dependencies, count}(all_of(type, event));             \
  }                                                                                   \
  CUresult cuGraph##kind##NodeGetEvent(CUgraphNode node, CUevent* event) {            \
    return read(node, type, event,                                                    \
                [&](const CUgraphNodeParams& all) { *event = all.member.event; });    \
  }                                                                                   \
  CUresult cuGraph##kind##NodeSetEvent(CUgraphNode node, CUevent event) {             \
    return set(node, all_of(type, event));                                            \
  }                                                                                   \
  CUresult cuGraphExec##kind##NodeSetEvent(CUgraphExec executable, CUgraphNode node,  \
                                           CUevent event) {                           \
    return set(executable, node, all_of(type, event));                                \
  }

extern "C" {

CUDACORE_SIMULATOR_NODE_KIND(Kernel, , CUDA_KERNEL_NODE_PARAMS_v1)
CUDACORE_SIMULATOR_NODE_KIND(Kernel, _v2, CUDA_KERNEL_NODE_PARAMS)
CUDACORE_SIMULATOR_NODE_KIND(Host, , CUDA_HOST_NODE_PARAMS)
CUDACORE_SIMULATOR_NODE_KIND(BatchMemOp, , CUDA_BATCH_MEM_OP_NODE_PARAMS)
CUDACORE_SIMULATOR_NODE_KIND_IN_CONTEXT(Memcpy, CUDA_MEMCPY3D, CU_GRAPH_NODE_TYPE_MEMCPY,
                                        memcpy.copyCtx)
CUDACORE_SIMULATOR_NODE_KIND_IN_CONTEXT(Memset, CUDA_MEMSET_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMSET,
                                        memset.ctx)
CUDACORE_SIMULATOR_EVENT_NODE(EventRecord, CU_GRAPH_NODE_TYPE_EVENT_RECORD, eventRecord)
CUDACORE_SIMULATOR_EVENT_NODE(EventWait, CU_GRAPH_NODE_TYPE_WAIT_EVENT, eventWait)

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out) {
  return read(node, CU_GRAPH_NODE_TYPE_KERNEL, out, [&](const CUgraphNodeParams& all) {
    const auto& kernel = all.kernel;
    *out = {kernel.func,         kernel.gridDimX,  kernel.gridDimY,  kernel.gridDimZ,
            kernel.blockDimX,    kernel.blockDimY, kernel.blockDimZ, kernel.sharedMemBytes,
            kernel.kernelParams, kernel.extra,     kernel.kern,      kernel.ctx};
  });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  return read(node, CU_GRAPH_NODE_TYPE_KERNEL, out, [&](const CUgraphNodeParams& all) {
    const auto& kernel = all.kernel;
    *out = {kernel.func,         kernel.gridDimX,  kernel.gridDimY,  kernel.gridDimZ,
            kernel.blockDimX,    kernel.blockDimY, kernel.blockDimZ, kernel.sharedMemBytes,
            kernel.kernelParams, kernel.extra};
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  return read(node, CU_GRAPH_NODE_TYPE_MEMCPY, out,
              [&](const CUgraphNodeParams& all) { *out = all.memcpy.copyParams; });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out) {
  return read(node, CU_GRAPH_NODE_TYPE_MEMSET, out, [&](const CUgraphNodeParams& all) {
    const auto& fill = all.memset;
    *out = {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height};
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* out) {
  return read(node, CU_GRAPH_NODE_TYPE_HOST, out, [&](const CUgraphNodeParams& all) {
    *out = {all.host.fn, all.host.userData};
  });
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return read(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, out, [&](const CUgraphNodeParams& all) {
    *out = {all.memOp.ctx, all.memOp.count, all.memOp.paramArray, all.memOp.flags};
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* out) {
  return read(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, out, [&](const CUgraphNodeParams& all) {
    const auto& alloc = all.alloc;
    *out = {alloc.poolProps, alloc.accessDescs, alloc.accessDescCount, alloc.bytesize, alloc.dptr};
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* out) {
  return read(node, CU_GRAPH_NODE_TYPE_MEM_FREE, out,
              [&](const CUgraphNodeParams& all) { *out = all.free.dptr; });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* given) {
  if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  all.alloc = {given->poolProps, given->accessDescs, given->accessDescCount, given->bytesize,
               given->dptr};
  const CUresult result = cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, &all);
  if (result == CUDA_SUCCESS) given->dptr = all.alloc.dptr;
  return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               std::size_t count, CUdeviceptr address) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
  all.free.dptr = address;
  return Adding{node, graph, dependencies, count}(all);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
  return Adding{node, graph, dependencies, count}(with_type(CU_GRAPH_NODE_TYPE_EMPTY));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, CUgraph child) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_GRAPH);
  all.graph.graph = child;
  return Adding{node, graph, dependencies, count}(all);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  return read(handle, CU_GRAPH_NODE_TYPE_GRAPH, graph, [&](const CUgraphNodeParams&) {
    *graph = registry().graph_nodes.find(handle)->body_handles.front();
  });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            CUgraph child) {
  CUgraphNodeParams all = with_type(CU_GRAPH_NODE_TYPE_GRAPH);
  all.graph.graph = child;
  return set(executable, node, all);
}

}  // extern "C"
