// SPDX-License-Identifier: Apache-2.0
#include "cudacore/graph.hpp"

#include <stdexcept>

#include "error/describe.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_launch.hpp"
#include "runtime/graph_work_box.hpp"
#include "runtime/kernel_node_attributes.hpp"

namespace cudacore {
namespace {

owner::ExecutableBox& open(const Graph& graph) {
  if (graph.box() == nullptr) [[unlikely]] {
    throw std::invalid_argument(
        "this Graph is closed; in Python, the end of a `with` block of it closes it too: to "
        "capture, write `with device.create_graph_builder() as builder:`");
  }
  owner::ExecutableBox& box = *graph.box();
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
  if (node.box()->addition > box.last_addition) {
    throw std::invalid_argument(
        "the node was added to the definition after this Graph was made, which does not have it: "
        "make another Graph with instantiate()");
  }
  return node.handle();
}

using Outdated = std::deque<owner::ExecutableBox::Outdated>;

/// An event behind all launches so far; null if there are none, or if it cannot be recorded,
/// because their stream is being captured.
std::shared_ptr<owner::EventBox> behind_launches(const owner::ExecutableBox& box) {
  if (box.last_stream == nullptr) return box.last_launch;
  if (owner::is_captured(*box.last_stream)) return nullptr;
  return Stream(box.last_stream).record().box();
}

/// Where an update leaves what it replaces until no launch uses that. Moves what was left before,
/// and is not used any more, to `unused`, to be dropped without the lock.
owner::Uses& place_for_replaced(owner::ExecutableBox& box, Outdated& unused) {
  while (!box.outdated.empty()) {
    std::shared_ptr<owner::EventBox>& end = box.outdated.front().unused_after;
    if (end == nullptr) end = behind_launches(box);
    if (end == nullptr || !Event(end).is_done()) break;
    unused.push_back(std::move(box.outdated.front()));
    box.outdated.pop_front();
  }
  if (box.last_stream == nullptr && box.last_launch == nullptr) return unused.emplace_back().uses;
  box.outdated.push_back({behind_launches(box), {}});
  return box.outdated.back().uses;
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
  return text + "; make a new Graph with instantiate()";
}

}  // namespace

CUgraphExec Graph::handle() const { return open(*this).executable; }

std::shared_ptr<owner::Kept> launch_held(owner::ExecutableBox& box, const StreamCall& call,
                                         const Stream& stream) {
  const owner::StreamBox& queue = *stream.box();
  const CUresult result = call.api().cuGraphLaunch(box.executable, call.stream());
  call.check(result, "cuGraphLaunch", [&] {
    const bool may_hold = result == CUDA_ERROR_INVALID_VALUE && box.keeps_memory;
    return describe(box, queue) +
           (may_hold ? ", which allocates memory: if that of its last launch is not freed, "
                       "deallocate it in the graph, close the buffer, or use "
                       "instantiate(GraphCompleteOptions(auto_free_on_launch=True))"
                     : "");
  });
  call.context()->history.add(box.interned_name, call.stream());
  if (owner::is_captured(queue)) {
    auto kept = std::make_shared<owner::Kept>();
    kept->inner = box.uses;
    for (const auto& [node, uses] : box.updated) kept->inner.push_back(uses);
    return kept;
  }
  if (!queue.owned || stream.box().use_count() == 0) {  // the bindings may lend a box
    box.last_stream.reset();
    box.last_launch = stream.record().box();
  } else if (box.last_stream != stream.box()) {
    box.last_stream = stream.box();
    box.last_launch.reset();
  }
  return nullptr;
}

void keep_launched(const Stream& stream, std::shared_ptr<owner::Kept> kept) {
  if (kept != nullptr) owner::keep_in_capture(driver::api(), *stream.box(), std::move(kept));
}

void Graph::launch(const Stream& stream) const {
  owner::ExecutableBox& box = open(*this);
  const StreamCall call(require_open(stream.box(), "Stream"));
  std::shared_ptr<owner::Kept> kept;
  {
    const std::scoped_lock lock(box.mutex);
    kept = launch_held(box, call, stream);
  }
  keep_launched(stream, std::move(kept));
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
  owner::Uses uses;
  definition.box()->list_uses(uses);
  owner::Uses used = box.uses;
  for (const auto& [node, kept] : box.updated) used.push_back(kept);
  owner::Uses& replaced = place_for_replaced(box, unused);
  CUgraphExecUpdateResultInfo info{};
  context.check(call.api().cuGraphExecUpdate(box.executable, call.graph(), &info),
                "cuGraphExecUpdate",
                [&] { return describe(box) + ": " + explain(call.api(), info); });
  replaced.swap(used);
  box.uses.swap(uses);
  box.updated.clear();
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
    if (!changed_attributes(call, handle, *node.box(), work).empty()) {
      throw std::invalid_argument(
          "an update of one node cannot change the cluster, is_cooperative, the priority or other "
          "launch attributes: update() the node of the definition, and the Graph from the "
          "definition");
    }
  }
  std::shared_ptr<owner::Kept>& now = box.updated[handle];
  owner::Uses* replaced = nullptr;
  if (now != nullptr) {
    replaced = &place_for_replaced(box, unused);
    replaced->reserve(1);
  }
  context.check(call.api().cuGraphExecNodeSetParams(box.executable, handle, &work.params),
                "cuGraphExecNodeSetParams", [&] { return describe(box) + ", " + work.name; });
  if (replaced != nullptr) replaced->push_back(now);
  now = work.kept;
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
