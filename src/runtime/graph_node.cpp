// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "error/describe.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_work_box.hpp"
#include "runtime/kernel_node_attributes.hpp"

namespace cudacore {
namespace {

using ListNodes = CUresult (*driver::DriverApi::*)(CUgraphNode, CUgraphNode*, CUgraphEdgeData*,
                                                   std::size_t*);

std::vector<GraphNode> neighbors(const GraphNode& node, ListNodes list, const char* function) {
  const NodeCall call(node);
  std::size_t count = 0;
  call.check((call.api().*list)(call.handle(), nullptr, nullptr, &count), function);
  std::vector<CUgraphNode> handles(count);
  std::vector<CUgraphEdgeData> data(count);
  if (count != 0) {
    call.check((call.api().*list)(call.handle(), handles.data(), data.data(), &count), function);
  }
  std::vector<GraphNode> nodes;
  nodes.reserve(count);
  for (CUgraphNode handle : handles) {
    nodes.emplace_back(node.graph_box(), node.graph_box()->box_of(call.api(), handle));
  }
  return nodes;
}

CUDA_KERNEL_NODE_PARAMS kernel_params(const NodeCall& call) {
  CUDA_KERNEL_NODE_PARAMS params{};
  call.check(call.api().cuGraphKernelNodeGetParams(call.handle(), &params),
             "cuGraphKernelNodeGetParams");
  return params;
}

CUlaunchAttributeValue attribute(const NodeCall& call, CUlaunchAttributeID id) {
  CUlaunchAttributeValue value{};
  call.check(call.api().cuGraphKernelNodeGetAttribute(call.handle(), id, &value),
             "cuGraphKernelNodeGetAttribute");
  return value;
}

/// The driver has no value for a node that had a cluster and has none any more.
void require_cluster(const NodeCall& call, const GraphWorkBox& work) {
  constexpr CUlaunchAttributeID id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  if (attribute(call, id).clusterDim.x == 0 || attribute_of(work, id).clusterDim.x != 0) return;
  throw NotSupportedError(
      "a node with a cluster cannot be updated to have none: destroy it and add another");
}

/// The attributes besides those of the shape, as they were given.
LaunchAttributes given_attributes(const NodeCall& call, const owner::NodeBox& node) {
  LaunchAttributes given;
  const bool is_ours = node.kept != nullptr;
  const auto read = [&](CUlaunchAttributeID id) {
    CUlaunchAttributeValue value{};
    const bool has_default = is_ours && std::find(node.attributes.begin(), node.attributes.end(),
                                                  id) == node.attributes.end();
    if (has_default) return value;
    return read_attribute(call, call.handle(), id, value) ? value : CUlaunchAttributeValue{};
  };
  const auto mode = [&](CUlaunchAttributeID id) {
    const CUlaunchAttributeValue value = read(id);
    int number = 0;
    std::memcpy(&number, &value, sizeof(number));
    return number;
  };
  const auto window = read(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow;
  if (window.num_bytes != 0) given.access_policy_window = launching::given_window(window);
  if (const int policy = mode(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)) {
    given.cluster_scheduling_policy_preference = static_cast<ClusterSchedulingPolicy>(policy);
  }
  const auto map = read(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap;
  if (map.default_ != 0 || map.remote > 1) given.mem_sync_domain_map = {map.default_, map.remote};
  if (mode(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN) != 0) given.mem_sync_domain = MemSyncDomain::remote;
  const auto preferred = read(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION).preferredClusterDim;
  if (preferred.x != 0) given.preferred_cluster = {preferred.x, preferred.y, preferred.z};
  given.device_updatable_kernel_node = read(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
                                           .deviceUpdatableKernelNode.deviceUpdatable != 0;
  given.nvlink_util_centric_scheduling =
      mode(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING) != 0;
  if (const int size = mode(launching::portable_cluster_size_mode)) {
    given.portable_cluster_size_mode = static_cast<PortableClusterSizeMode>(size);
  }
  if (const int memory = mode(launching::shared_memory_mode)) {
    given.shared_memory_mode = static_cast<SharedMemoryMode>(memory);
  }
  return given;
}

/// Whether it is what a node launches: captured launches are known by their function alone.
bool is_launched(const launching::KernelBox& kernel, const CUDA_KERNEL_NODE_PARAMS& params) {
  if (params.kern != nullptr) return kernel.kernel == params.kern;
  return std::ranges::any_of(kernel.on_device, [&](const auto& device) {
    const launching::KernelOnDevice* state = device.load(std::memory_order_acquire);
    return state != nullptr && state->function == params.func;
  });
}

using KernelShare = std::shared_ptr<launching::KernelBox>;

/// The kernel that a node launches, if it is what was kept for a launch or is inside it; else null.
KernelShare launched_kernel(const owner::Kept& kept, const CUDA_KERNEL_NODE_PARAMS& params) {
  if (kept.kernel != nullptr && is_launched(*kept.kernel, params)) return kept.kernel;
  for (const std::shared_ptr<owner::Kept>& inside : kept.inner) {
    if (auto launched = launched_kernel(*inside, params)) return launched;
  }
  return nullptr;
}

/// The same among all that a graph keeps because it was launched in its capture. Stops at the
/// first, since thousands of nodes may ask one after another. With the lock.
KernelShare launched_kernel(const owner::GraphBox& graph, const CUDA_KERNEL_NODE_PARAMS& params) {
  for (const std::shared_ptr<owner::Kept>& kept : graph.captured) {
    if (auto launched = launched_kernel(*kept, params)) return launched;
  }
  for (const auto& [handle, node] : graph.nodes) {
    if (node->kept == nullptr) continue;
    if (auto launched = launched_kernel(*node->kept, params)) return launched;
  }
  for (const std::unique_ptr<owner::GraphBox>& inside : graph.inner) {
    if (auto launched = launched_kernel(*inside, params)) return launched;
  }
  return nullptr;
}

CUdeviceptr address(CUmemorytype type, CUdeviceptr device, const void* host) {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host) : device;
}

}  // namespace

GraphDefinition GraphNode::graph() const { return GraphDefinition(graph_); }
CUgraphNode GraphNode::handle() const noexcept { return box_->node; }
GraphNodeKind GraphNode::kind() const noexcept { return static_cast<GraphNodeKind>(box_->type); }

bool GraphNode::is_valid() const noexcept {
  const std::scoped_lock lock(graph_->outermost().family);
  return box_->node != nullptr;
}

void GraphNode::destroy() const {
  if (!is_valid()) return;
  owner::GraphBox::Ended ended;  // dropped without the lock
  std::shared_ptr<owner::Kept> unused;
  const NodeCall call(*this);
  call.check(call.api().cuGraphDestroyNode(call.handle()), "cuGraphDestroyNode");
  graph_->forget(*box_, ended);
  unused.swap(box_->kept);
}

void GraphNode::update(const GraphWork& given) const {
  GraphWorkBox& work = given.box();
  require_kind(*this, work);
  if (work.params.type == CU_GRAPH_NODE_TYPE_EMPTY) return;
  if (work.child != nullptr) {
    throw NotSupportedError(
        "a child graph node cannot take another graph: destroy it and embed the other, or edit "
        "its child_graph");
  }
  std::shared_ptr<owner::Kept> unused;  // dropped without the lock
  const NodeCall call(*this);
  const bool is_ours = box_->kept != nullptr;
  const error::ContextScope context(call.api(), *work.context);
  if (work.params.type == CU_GRAPH_NODE_TYPE_KERNEL) require_cluster(call, work);
  graph_->keep_for_others(call.api(), work.kept);
  const char* function = "cuGraphNodeSetParams";
  CUresult result = call.api().cuGraphNodeSetParams(call.handle(), &work.params);
  if (result == CUDA_SUCCESS) unused = std::exchange(box_->kept, work.kept);
  if (result == CUDA_SUCCESS && work.params.type == CU_GRAPH_NODE_TYPE_KERNEL) {
    std::vector<CUlaunchAttributeID> set = more_attributes(work);
    for (const CUlaunchAttributeID id : changed_attributes(call, call.handle(), *box_, work)) {
      const CUlaunchAttributeValue value = attribute_of(work, id);
      function = "cuGraphKernelNodeSetAttribute";
      result = call.api().cuGraphKernelNodeSetAttribute(call.handle(), id, &value);
      if (result != CUDA_SUCCESS) break;
    }
    // What a node of another library was given stays.
    if (is_ours && result == CUDA_SUCCESS) box_->attributes.swap(set);
  }
  if (result != CUDA_SUCCESS) {
    error::throw_driver_error(result, function, work.name, work.context.get());
  }
}

std::vector<GraphNode> GraphNode::predecessors() const {
  return neighbors(*this, &driver::DriverApi::cuGraphNodeGetDependencies,
                   "cuGraphNodeGetDependencies");
}

std::vector<GraphNode> GraphNode::successors() const {
  return neighbors(*this, &driver::DriverApi::cuGraphNodeGetDependentNodes,
                   "cuGraphNodeGetDependentNodes");
}

Kernel GraphNode::kernel() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_KERNEL);
  if (box_->kept != nullptr && box_->kept->kernel != nullptr) return Kernel(box_->kept->kernel);
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(call);
  if (auto launched = launched_kernel(graph_->outermost(), params)) {
    return Kernel(std::move(launched));
  }
  if (params.kern != nullptr) return Kernel::from_handle(params.kern, graph_);
  const std::string name = function_name(call.api(), params.func);
  throw NotSupportedError(
      "this node launches a CUfunction" + (name.empty() ? "" : ", " + name) +
      ", which other code launched and which has no Kernel: to update the node, give it a kernel "
      "and args");
}

LaunchConfig GraphNode::config() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_KERNEL);
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(call);
  LaunchConfig config;
  config.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  config.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  config.shmem_size = params.sharedMemBytes;
  const auto cluster = attribute(call, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  if (cluster.x != 0) {
    config.cluster = Dim3{cluster.x, cluster.y, cluster.z};
    for (std::size_t axis = 0; axis < 3; ++axis) config.grid[axis] /= (*config.cluster)[axis];
  }
  config.is_cooperative = attribute(call, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0;
  const int priority = attribute(call, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority;
  if (priority != 0) config.priority = priority;
  config.attributes = prepare(given_attributes(call, *box_));
  return config;
}

std::uintptr_t GraphNode::device_node() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_KERNEL);
  CUlaunchAttributeValue value{};
  const bool is_known =
      read_attribute(call, call.handle(), CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, value);
  if (!is_known || value.deviceUpdatableKernelNode.deviceUpdatable == 0) {
    throw std::invalid_argument(
        "kernels can't update this node: launch it with device_updatable_kernel_node");
  }
  return reinterpret_cast<std::uintptr_t>(value.deviceUpdatableKernelNode.devNode);
}

Event GraphNode::event() const {
  const NodeCall call(*this);
  const CUgraphNodeType type = box_->type;
  NodeCall::require(
      *this, type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT,
      "record or wait");
  if (box_->kept == nullptr || box_->kept->event == nullptr) {
    throw NotSupportedError(
        "the event of this node is not known: the node was not made by GraphDefinition.record() or "
        ".wait()");
  }
  return Event(box_->kept->event);
}

GraphDefinition GraphNode::child_graph() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_GRAPH);
  CUgraph child = nullptr;
  call.check(call.api().cuGraphChildGraphNodeGetGraph(call.handle(), &child),
             "cuGraphChildGraphNodeGetGraph");
  return GraphDefinition(
      std::shared_ptr<owner::GraphBox>(graph_, &graph_->box_inside(*box_, child)));
}

GraphNode::Copy GraphNode::copy() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_MEMCPY);
  CUDA_MEMCPY3D params{};
  call.check(call.api().cuGraphMemcpyNodeGetParams(call.handle(), &params),
             "cuGraphMemcpyNodeGetParams");
  return {address(params.dstMemoryType, params.dstDevice, params.dstHost),
          address(params.srcMemoryType, params.srcDevice, params.srcHost),
          params.WidthInBytes * std::max<std::size_t>(params.Height, 1) *
              std::max<std::size_t>(params.Depth, 1)};
}

GraphNode::Fill GraphNode::fill() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_MEMSET);
  CUDA_MEMSET_NODE_PARAMS params{};
  call.check(call.api().cuGraphMemsetNodeGetParams(call.handle(), &params),
             "cuGraphMemsetNodeGetParams");
  return {params.dst, params.value, params.elementSize, params.width, params.height, params.pitch};
}

std::shared_ptr<void> GraphNode::first_kept() const {
  const std::scoped_lock lock(graph_->outermost().family);
  if (box_->kept == nullptr || box_->kept->shares.empty()) return nullptr;
  return box_->kept->shares.front();
}

}  // namespace cudacore
