// SPDX-License-Identifier: Apache-2.0
//
// The launch attributes of kernel nodes.
#include <algorithm>

#include "simulator/api/code/kernel_action.hpp"
#include "simulator/api/graph/graph.hpp"
#include "simulator/api/stream/stream.hpp"

using namespace cudacore::simulator;

namespace {

/// CUresult body(GraphNode&, const KernelAction&), for a kernel node.
template <class Body>
CUresult kernel_node_call(CUgraphNode handle, Body&& body) {
  return node_call(handle, [&](GraphNode& node) {
    const auto* action = dynamic_cast<const KernelAction*>(node.action.get());
    if (action == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "not a kernel node");
    return body(node, *action);
  });
}

CUresult replace(GraphNode& node, const KernelAction& action,
                 const KernelAction::Attributes& attributes) {
  SharedAction changed;
  const CUresult result = action.with(attributes, changed);
  if (result == CUDA_SUCCESS) node.action = std::move(changed);
  return result;
}

/// Whether nodes have the attribute: the others are for launches on streams, or for newer devices.
bool is_of_nodes(CUkernelNodeAttrID attribute) {
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return false;
    default:
      return attribute > CU_LAUNCH_ATTRIBUTE_IGNORE && attribute < CU_LAUNCH_ATTRIBUTE_MAX;
  }
}

/// What an attribute is unless it is set.
CUkernelNodeAttrValue default_value(CUkernelNodeAttrID attribute) {
  CUkernelNodeAttrValue value{};
  if (attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) {
    value.memSyncDomainMap.remote = 1;
  }
  return value;
}

bool is_no_cluster(CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue& value) {
  return attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && value.clusterDim.x == 0 &&
         value.clusterDim.y == 0 && value.clusterDim.z == 0;
}

}  // namespace

extern "C" {

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return kernel_node_call(from, [&](const GraphNode&, const KernelAction& source) {
    return kernel_node_call(to, [&](GraphNode& node, const KernelAction& action) {
      return replace(node, action, source.attributes);
    });
  });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue* value) {
  return kernel_node_call(handle, [&](const GraphNode&, const KernelAction& action) {
    if (value == nullptr || !is_of_nodes(attribute)) return CUDA_ERROR_INVALID_VALUE;
    const auto found = action.attributes.find(attribute);
    *value = found != action.attributes.end() ? found->second : default_value(attribute);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
  return kernel_node_call(handle, [&](GraphNode& node, const KernelAction& action) {
    if (value == nullptr || !is_of_nodes(attribute)) return CUDA_ERROR_INVALID_VALUE;
    KernelAction::Attributes attributes = action.attributes;
    if (is_no_cluster(attribute, *value)) {
      attributes.erase(attribute);
    } else {
      attributes[attribute] = *value;
    }
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      int& priority = attributes[attribute].priority;
      priority = std::clamp(priority, greatest_stream_priority, least_stream_priority);
    }
    return replace(node, action, attributes);
  });
}

}  // extern "C"
