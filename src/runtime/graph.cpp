// SPDX-License-Identifier: Apache-2.0
#include "cudacore/graph.hpp"

#include <stdexcept>

#include "error/describe.hpp"
#include "runtime/graph_work.hpp"

namespace cudacore {
namespace {

owner::ExecutableBox& open(const Graph& graph) {
  owner::ExecutableBox& box = require_open(graph.box(), "Graph");
  if (box.made_after != error::resets.load(std::memory_order_relaxed)) [[unlikely]] {
    error::throw_stale("this Graph is");
  }
  return box;
}

std::string describe(const owner::ExecutableBox& box) {
  return std::string(box.interned_name) + ", " + error::describe_device(box.context->device);
}

std::string describe(const owner::ExecutableBox& box, const owner::StreamBox& stream) {
  return std::string(box.interned_name) + " on " + owner::describe_stream(stream);
}

/// What a node of the executable graph is updated by: the one that it was made from.
/// @throw std::invalid_argument if it was made from another definition.
CUgraphNode find(const owner::ExecutableBox& box, const GraphNode& node) {
  const std::shared_ptr<owner::GraphBox> source = box.source.lock();
  if (source == nullptr || source.get() != &node.graph_box()->outermost()) {
    throw std::invalid_argument("the node is not of the definition that this Graph was made from");
  }
  if (node.handle() == nullptr) throw std::invalid_argument("the node has been destroyed");
  return node.handle();
}

/// Drops what no launch uses any more, at its end and without the lock.
using Outdated = std::vector<std::shared_ptr<owner::Kept>>;

void take_unused(owner::ExecutableBox& box, Outdated& unused) {
  const bool runs = box.last_launch != nullptr && !Event(box.last_launch).is_done();
  if (!runs) unused.swap(box.outdated);
}

const char* reason(CUgraphExecUpdateResult result) noexcept {
  switch (result) {
    case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED:
      return "its nodes or edges differ";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED:
      return "the kind of a node differs";
    case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
    case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
      return "the kernel of a node cannot become this other one";
    case CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
      return "the parameters of a node changed in a way that cannot be taken over";
    case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
      return "the attributes of a node changed in a way that cannot be taken over";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED:
      return "a node cannot be updated";
    default:
      return "the driver gives no reason";
  }
}

std::string explain(const driver::DriverApi& api, const CUgraphExecUpdateResultInfo& info) {
  std::string text = reason(info.result);
  CUgraphNodeType type{};
  if (info.errorNode != nullptr && api.cuGraphNodeGetType(info.errorNode, &type) == CUDA_SUCCESS) {
    text += std::string(" (at a node of kind ") + kind_name(type) + ")";
  }
  return text;
}

}  // namespace

CUgraphExec Graph::handle() const { return open(*this).executable; }

void Graph::launch(const Stream& stream) const {
  owner::ExecutableBox& box = open(*this);
  const owner::StreamBox& queue = require_open(stream.box(), "Stream");
  const StreamCall call(queue);
  const std::scoped_lock lock(box.mutex);
  call.check(call.api().cuGraphLaunch(box.executable, call.stream()), "cuGraphLaunch",
             [&] { return describe(box, queue); });
  call.context()->history.add(box.interned_name, call.stream());
  if (!box.updated.empty()) [[unlikely]]
    box.last_launch = stream.record().box();
}

void Graph::upload(const Stream& stream) const {
  owner::ExecutableBox& box = open(*this);
  const owner::StreamBox& queue = require_open(stream.box(), "Stream");
  const StreamCall call(queue);
  const std::scoped_lock lock(box.mutex);
  call.check(call.api().cuGraphUpload(box.executable, call.stream()), "cuGraphUpload",
             [&] { return describe(box, queue); });
}

void Graph::update(const GraphDefinition& definition) const {
  owner::ExecutableBox& box = open(*this);
  const ContextCall context(box.context);
  Outdated unused;
  const GraphCall call(definition.box());
  const std::scoped_lock lock(box.mutex);
  CUgraphExecUpdateResultInfo info{};
  context.check(call.api().cuGraphExecUpdate(box.executable, call.graph(), &info),
                "cuGraphExecUpdate",
                [&] { return describe(box) + ": " + explain(call.api(), info); });
  for (auto& [node, kept] : box.updated) box.outdated.push_back(std::move(kept));
  box.updated.clear();
  take_unused(box, unused);
}

void Graph::update(const GraphNode& node, const GraphWork& given) const {
  owner::ExecutableBox& box = open(*this);
  GraphWorkBox& work = given.box();
  require_kind(node, work);
  if (work.params.type == CU_GRAPH_NODE_TYPE_EMPTY) return;
  const ContextCall context(work.context);
  Outdated unused;
  const GraphCall call(node.graph_box());
  const std::scoped_lock lock(box.mutex);
  const CUgraphNode handle = find(box, node);
  if (work.params.type == CU_GRAPH_NODE_TYPE_KERNEL) {
    for (const CUlaunchAttributeID id : kernel_attributes) {
      CUlaunchAttributeValue value{};
      call.check(call.api().cuGraphKernelNodeGetAttribute(handle, id, &value),
                 "cuGraphKernelNodeGetAttribute");
      if (are_equal(id, value, attribute_of(work, id))) continue;
      throw std::invalid_argument(
          "an update of one node cannot change the cluster, is_cooperative or the priority: "
          "update() the node of the definition, and the Graph from the definition");
    }
  }
  // Null for what the driver keeps with the definition.
  if (work.keeps()) box.updated.try_emplace(handle);
  box.outdated.reserve(box.outdated.size() + 1);
  context.check(call.api().cuGraphExecNodeSetParams(box.executable, handle, &work.params),
                "cuGraphExecNodeSetParams", [&] { return describe(box) + ", " + work.name; });
  if (const auto known = box.updated.find(handle); known != box.updated.end()) {
    box.outdated.push_back(std::exchange(known->second, work.kept));
  }
  take_unused(box, unused);
}

void Graph::set_enabled(const GraphNode& node, bool enabled) const {
  owner::ExecutableBox& box = open(*this);
  const ContextCall context(box.context);
  const std::scoped_lock lock(box.mutex);
  context.check(
      context.api().cuGraphNodeSetEnabled(box.executable, find(box, node), enabled ? 1 : 0),
      "cuGraphNodeSetEnabled", [&] {
        return describe(box) + ", a node of kind " + kind_name(node.box()->type) +
               ": only kernels, copies and fills can be disabled";
      });
}

bool Graph::is_enabled(const GraphNode& node) const {
  owner::ExecutableBox& box = open(*this);
  const ContextCall context(box.context);
  const std::scoped_lock lock(box.mutex);
  unsigned enabled = 0;
  context.check(context.api().cuGraphNodeGetEnabled(box.executable, find(box, node), &enabled),
                "cuGraphNodeGetEnabled", [&] {
                  return describe(box) + ", a node of kind " + kind_name(node.box()->type) +
                         ": only kernels, copies and fills can be disabled";
                });
  return enabled != 0;
}

}  // namespace cudacore
