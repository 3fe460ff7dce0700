// SPDX-License-Identifier: Apache-2.0
#include "owner/graph_box.hpp"

#include <exception>
#include <utility>

#include "cudacore/error.hpp"
#include "error/check.hpp"
#include "error/interned_names.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::owner {
namespace {

/// Whether a handle from before a reset, which ended it.
bool is_stale(unsigned made_after) noexcept {
  return made_after != error::resets.load(std::memory_order_relaxed);
}

void destroy(const driver::DriverApi& api, CUgraph graph) noexcept {
  const CUresult result = api.cuGraphDestroy(graph);
  if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuGraphDestroy");
}

}  // namespace

GraphBox::~GraphBox() {
  if (outer != nullptr || graph == nullptr || is_captured || is_stale(made_after)) return;
  end_outside_callbacks([graph = graph] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr) return;
    const EndScope scope(*api);
    destroy(*api, graph);
  });
}

const std::shared_ptr<NodeBox>& GraphBox::box_of(const driver::DriverApi& api, CUgraphNode node) {
  const auto known = nodes.find(node);
  if (known != nodes.end()) return known->second;
  auto box = std::make_shared<NodeBox>();
  box->node = node;
  error::check(api.cuGraphNodeGetType(node, &box->type), "cuGraphNodeGetType");
  return nodes.emplace(node, std::move(box)).first->second;
}

GraphBox& GraphBox::box_inside(NodeBox& node, CUgraph contained) {
  for (GraphBox* box : node.graphs) {
    if (box->graph == contained) return *box;
  }
  node.graphs.reserve(node.graphs.size() + 1);
  auto box = std::make_unique<GraphBox>();
  box->graph = contained;
  box->outer = this;
  inner.push_back(std::move(box));
  node.graphs.push_back(inner.back().get());
  return *inner.back();
}

void GraphBox::list_uses(Uses& uses) const {
  for (const auto& [handle, box] : nodes) {
    if (box->kept != nullptr) uses.push_back(box->kept);
  }
  uses.insert(uses.end(), captured.begin(), captured.end());
  for (const std::unique_ptr<GraphBox>& box : inner) box->list_uses(uses);
}

void GraphBox::keep_for_others(const driver::DriverApi& api, const std::shared_ptr<Kept>& kept) {
  if (outermost().is_handed_out) keep_in(api, graph, kept);
}

void GraphBox::end(Ended& ended) noexcept {
  for (const auto& [handle, box] : nodes) {
    for (GraphBox* contained : box->graphs) contained->end(ended);
    box->node = nullptr;
  }
  ended.nodes.merge(nodes);
  ended.captured.splice(ended.captured.end(), captured);
  graph = nullptr;
}

void GraphBox::forget(NodeBox& node, Ended& ended) noexcept {
  for (GraphBox* contained : node.graphs) contained->end(ended);
  ended.nodes.insert(nodes.extract(std::exchange(node.node, nullptr)));
}

namespace {

/// Whether the last launch has ended for sure.
bool has_ended(const driver::DriverApi& api, const LaunchedUses& remains) noexcept {
  if (remains.last_launch != nullptr) {
    return api.cuEventQuery(remains.last_launch->event) == CUDA_SUCCESS;
  }
  if (remains.last_stream == nullptr) return true;
  try {
    return !is_captured(*remains.last_stream) &&
           api.cuStreamQuery(remains.last_stream->stream) == CUDA_SUCCESS;
  } catch (const std::exception&) {  // the driver doesn't say
    return false;
  }
}

/// Records an event behind all that is queued on the stream of the last launch.
void mark_end(const driver::DriverApi& api, LaunchedUses& remains) {
  const StreamBox& stream = *remains.last_stream;
  auto behind = std::make_shared<EventBox>();
  behind->context = stream.work_context();
  const error::ContextScope scope(api, *behind->context);
  error::check(api.cuEventCreate(&behind->event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  error::check(api.cuEventRecord(behind->event, stream.stream), "cuEventRecord");
  remains.last_launch = std::move(behind);
}

/// Drops what is left behind after the last launch.
void end_after_launch(const std::shared_ptr<error::ContextBox>& context,
                      const std::shared_ptr<LaunchedUses>& remains) noexcept {
  try_elsewhere([context, remains] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return true;
    const OutsideCaptures outside(*api);
    try {
      if (remains->last_launch == nullptr) {
        // The event would become part of a capture.
        if (is_captured(*remains->last_stream)) return false;
        mark_end(*api, *remains);
      }
    } catch (const ContextLostError&) {  // the launch was lost with it
      return true;
    } catch (const std::exception&) {  // no memory for an event
      return false;
    }
    return api->cuEventQuery(remains->last_launch->event) != CUDA_ERROR_NOT_READY;
  });
}

}  // namespace

ExecutableBox::~ExecutableBox() {
  error::give_back_name(interned_name);
  if (executable == nullptr || is_stale(made_after)) return;
  auto remains = std::make_shared<LaunchedUses>(std::move(static_cast<LaunchedUses&>(*this)));
  end_outside_callbacks([executable = executable, context = std::move(context), remains] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return;
    const EndScope scope(*api);
    const CUresult result = api->cuGraphExecDestroy(executable);
    if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuGraphExecDestroy");
    if (!has_ended(*api, *remains)) end_after_launch(context, remains);
  });
}

}  // namespace cudacore::owner
