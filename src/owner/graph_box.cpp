// SPDX-License-Identifier: Apache-2.0
#include "owner/graph_box.hpp"

#include <utility>

#include "driver/blocking.hpp"
#include "error/check.hpp"
#include "error/interned_names.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
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
    const driver::BlockingScope blocking;
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

void GraphBox::end() noexcept {
  for (const auto& [handle, box] : nodes) {
    for (GraphBox* contained : box->graphs) contained->end();
    box->node = nullptr;
  }
  nodes.clear();
  graph = nullptr;
}

void GraphBox::forget(NodeBox& node) noexcept {
  for (GraphBox* contained : node.graphs) contained->end();
  nodes.erase(std::exchange(node.node, nullptr));
}

ExecutableBox::~ExecutableBox() {
  error::give_back_name(interned_name);
  if (executable == nullptr || is_stale(made_after)) return;
  struct Uses {
    std::unordered_map<CUgraphNode, std::shared_ptr<Kept>> updated;
    std::vector<std::shared_ptr<Kept>> outdated;
    std::shared_ptr<EventBox> last_launch;
  };
  auto uses = std::make_shared<Uses>();
  uses->updated = std::move(updated);
  uses->outdated = std::move(outdated);
  uses->last_launch = std::move(last_launch);
  end_outside_callbacks([executable = executable, context = std::move(context), uses] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return;
    const driver::BlockingScope blocking;
    const CUresult result = api->cuGraphExecDestroy(executable);
    if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuGraphExecDestroy");
    if (uses->last_launch == nullptr) return;
    // The launch may be running: another thread waits for it, and then drops what it used.
    end_elsewhere([uses] {
      const driver::DriverApi* cleanup = driver::api_for_cleanup();
      if (cleanup != nullptr) (void)cleanup->cuEventSynchronize(uses->last_launch->event);
    });
  });
}

}  // namespace cudacore::owner
