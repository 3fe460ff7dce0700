// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "error/describe.hpp"
#include "error/interned_names.hpp"
#include "runtime/context_call.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_work_box.hpp"
#include "runtime/kernel_node_attributes.hpp"

namespace cudacore {
namespace {

using Edges = std::vector<std::pair<CUgraphNode, CUgraphNode>>;

Edges list_edges(const GraphCall& call) {
  std::size_t count = 0;
  call.check(call.api().cuGraphGetEdges(call.graph(), nullptr, nullptr, nullptr, &count),
             "cuGraphGetEdges");
  std::vector<CUgraphNode> from(count);
  std::vector<CUgraphNode> to(count);
  std::vector<CUgraphEdgeData> data(count);
  if (count != 0) {
    call.check(
        call.api().cuGraphGetEdges(call.graph(), from.data(), to.data(), data.data(), &count),
        "cuGraphGetEdges");
  }
  Edges edges;
  edges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) edges.emplace_back(from[i], to[i]);
  return edges;
}

/// Whether there is a way along the edges.
bool reaches(const Edges& edges, CUgraphNode from, CUgraphNode to) {
  std::unordered_set<CUgraphNode> seen{from};
  std::vector<CUgraphNode> open{from};
  while (!open.empty()) {
    const CUgraphNode node = open.back();
    open.pop_back();
    if (node == to) return true;
    for (const auto& [before, after] : edges) {
      if (before == node && seen.insert(after).second) open.push_back(after);
    }
  }
  return false;
}

/// Whether one of the nodes is of one of the kinds.
bool has_kind(const driver::DriverApi& api, std::span<const CUgraphNode> nodes,
              std::initializer_list<CUgraphNodeType> kinds) {
  return std::ranges::any_of(nodes, [&](CUgraphNode node) {
    CUgraphNodeType type{};
    return api.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS &&
           std::ranges::find(kinds, type) != kinds.end();
  });
}

std::string instantiation_failure(const driver::DriverApi& api,
                                  const CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
  std::string text;
  switch (params.result_out) {
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
      text = ", whose structure is invalid";
      break;
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
      text = ", which does what a graph that is launched by kernels cannot do";
      break;
    case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
      text = ", whose nodes are of several devices";
      break;
    case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
      text =
          ", which has a condition that no node uses: give each condition of create_condition() to "
          "a conditional node, such as if_then(condition)";
      break;
    default:
      break;
  }
  CUgraphNodeType type{};
  if (params.hErrNode_out != nullptr &&
      api.cuGraphNodeGetType(params.hErrNode_out, &type) == CUDA_SUCCESS) {
    text += std::string(", at a node of kind ") + kind_name(type);
  }
  return text;
}

void require_own_condition(const GraphWorkBox& work, const owner::GraphBox& graph) {
  const std::shared_ptr<owner::GraphBox> own = work.condition_of.lock();
  for (const owner::GraphBox* in = &graph; own != nullptr && in != nullptr; in = in->outer) {
    if (in == own.get()) return;
  }
  throw_invalid(
      "the condition is of another graph: make it with create_condition() of the definition or the "
      "builder that the conditional node is added to");
}

/// What a node uses that does the work: with a child graph, also what that uses now. With the lock
/// of the child.
std::shared_ptr<owner::Kept> uses_of(const GraphWorkBox& work) {
  if (work.child == nullptr) return work.kept;
  auto kept = std::make_shared<owner::Kept>();
  kept->shares = work.kept->shares;
  work.child->list_uses(kept->inner);
  return kept;
}

/// The boxes of the graphs that a new conditional node will contain.
std::vector<std::unique_ptr<owner::GraphBox>> new_branches(owner::GraphBox& graph,
                                                           owner::NodeBox& node,
                                                           std::size_t count) {
  std::vector<std::unique_ptr<owner::GraphBox>> branches(count);
  for (std::unique_ptr<owner::GraphBox>& branch : branches) {
    branch = std::make_unique<owner::GraphBox>();
    branch->outer = &graph;
  }
  node.graphs.reserve(count);
  graph.inner.reserve(graph.inner.size() + count);
  return branches;
}

}  // namespace

GraphDefinition::GraphDefinition() : box_(std::make_shared<owner::GraphBox>()) {
  const driver::DriverApi& api = graph_api();
  CUgraph graph = nullptr;
  error::check(api.cuGraphCreate(&graph, 0), "cuGraphCreate");
  box_->graph = graph;
}

CUgraph GraphDefinition::handle() const {
  const GraphCall call(box_);
  owner::GraphBox& outermost = box_->outermost();
  if (!outermost.is_handed_out) {
    owner::Uses uses;
    outermost.list_uses(uses);
    auto all = std::make_shared<owner::Kept>();
    all->inner = std::move(uses);
    owner::keep_in(call.api(), outermost.graph, std::move(all));
    outermost.is_handed_out = true;
  }
  return call.graph();
}

bool GraphDefinition::is_valid() const noexcept {
  const std::scoped_lock lock(box_->outermost().family);
  return box_->graph != nullptr;
}

GraphNode add_node(const std::shared_ptr<owner::GraphBox>& graph, const GraphWork& given,
                   const std::function<std::vector<CUgraphNode>(const GraphCall&)>& dependencies) {
  GraphWorkBox& work = given.box();
  if (work.child == graph || (work.child != nullptr && work.child.get() == &graph->outermost())) {
    throw std::invalid_argument("a graph can't be embedded in itself, or in a part of itself");
  }
  // Two families are locked by two calls, in the order of their addresses.
  std::optional<GraphCall> child_first;
  std::optional<GraphCall> child_last;
  const bool has_other = work.child != nullptr && &work.child->outermost() != &graph->outermost();
  if (has_other && &work.child->outermost() < &graph->outermost()) child_first.emplace(work.child);
  const GraphCall call(graph);
  if (has_other && !child_first) child_last.emplace(work.child);

  const std::vector<CUgraphNode> after = dependencies(call);
  CUgraphNodeParams params = work.params;  // the driver writes into it
  auto box = std::make_shared<owner::NodeBox>();
  box->type = params.type;
  box->kept = uses_of(work);
  box->attributes = more_attributes(work);
  std::vector<std::unique_ptr<owner::GraphBox>> branches;
  if (params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    require_own_condition(work, *graph);
    box->condition = params.conditional.handle;
    box->condition_kind = params.conditional.type;
    branches = new_branches(*graph, *box, params.conditional.size);
  }
  const error::ContextScope context(call.api(), *work.context);
  graph->keep_for_others(call.api(), box->kept);
  CUgraphNode handle = nullptr;
  CUresult result = call.api().cuGraphAddNode(&handle, call.graph(), after.data(), nullptr,
                                              after.size(), &params);
  const char* function = "cuGraphAddNode";
  for (const CUlaunchAttribute& attribute : work.attributes) {
    if (result != CUDA_SUCCESS) break;
    result = call.api().cuGraphKernelNodeSetAttribute(handle, attribute.id, &attribute.value);
    if (result != CUDA_SUCCESS) {
      function = "cuGraphKernelNodeSetAttribute";
      (void)call.api().cuGraphDestroyNode(handle);
    }
  }
  if (result != CUDA_SUCCESS) {
    std::string name = work.name;
    if (params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL && result == CUDA_ERROR_INVALID_VALUE) {
      name += ", whose condition another node may have: make one for each by create_condition()";
    }
    error::throw_driver_error(result, function, name, work.context.get());
  }
  box->node = handle;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    branches[i]->graph = params.conditional.phGraph_out[i];
    box->graphs.push_back(branches[i].get());
    graph->inner.push_back(std::move(branches[i]));
  }
  box->addition = ++graph->outermost().additions;
  graph->nodes.emplace(handle, box);
  return {graph, std::move(box)};
}

std::size_t GraphDefinition::node_count() const { return count_nodes(GraphCall(box_)); }

GraphNode GraphDefinition::add(const GraphWork& work, std::span<const GraphNode> after) const {
  return add_node(box_, work, [after](const GraphCall& call) {
    std::vector<CUgraphNode> dependencies;
    dependencies.reserve(after.size());
    for (const GraphNode& node : after) {
      const CUgraphNode handle = call.node(node);
      if (std::find(dependencies.begin(), dependencies.end(), handle) == dependencies.end()) {
        dependencies.push_back(handle);
      }
    }
    return dependencies;
  });
}

std::vector<GraphNode> GraphDefinition::nodes() const {
  const GraphCall call(box_);
  std::vector<GraphNode> nodes;
  for (CUgraphNode node : list_nodes(call)) {
    nodes.emplace_back(box_, box_->box_of(call.api(), node));
  }
  return nodes;
}

std::vector<std::pair<GraphNode, GraphNode>> GraphDefinition::edges() const {
  const GraphCall call(box_);
  std::vector<std::pair<GraphNode, GraphNode>> edges;
  for (const auto& [from, to] : list_edges(call)) {
    edges.emplace_back(GraphNode(box_, box_->box_of(call.api(), from)),
                       GraphNode(box_, box_->box_of(call.api(), to)));
  }
  return edges;
}

void GraphDefinition::add_edge(const GraphNode& from, const GraphNode& to) const {
  const GraphCall call(box_);
  const CUgraphNode first = call.node(from);
  const CUgraphNode second = call.node(to);
  const Edges edges = list_edges(call);
  if (std::find(edges.begin(), edges.end(), std::pair(first, second)) != edges.end()) {
    throw_invalid("the graph has this edge already");
  }
  if (reaches(edges, second, first)) {
    throw_invalid(std::string("an edge from this ") + kind_name(from.box()->type) +
                  " node to this " + kind_name(to.box()->type) +
                  " node would close a cycle: the second runs before the first");
  }
  call.check(call.api().cuGraphAddDependencies(call.graph(), &first, &second, nullptr, 1),
             "cuGraphAddDependencies");
}

void GraphDefinition::remove_edge(const GraphNode& from, const GraphNode& to) const {
  const GraphCall call(box_);
  const CUgraphNode first = call.node(from);
  const CUgraphNode second = call.node(to);
  const Edges edges = list_edges(call);
  if (std::find(edges.begin(), edges.end(), std::pair(first, second)) == edges.end()) {
    throw_invalid("the graph has no such edge");
  }
  call.check(call.api().cuGraphRemoveDependencies(call.graph(), &first, &second, nullptr, 1),
             "cuGraphRemoveDependencies");
}

Graph GraphDefinition::instantiate(const GraphCompleteOptions& options) const {
  if (options.device_launch && options.auto_free_on_launch) {
    throw std::invalid_argument(
        "GraphCompleteOptions: device_launch and auto_free_on_launch exclude each other");
  }
  auto box = std::make_shared<owner::ExecutableBox>();
  box->context = options.upload_stream
                     ? require_open(options.upload_stream->box(), "Stream").work_context()
                     : error::current_context();
  const ContextCall context(box->context);
  const GraphCall call(box_);
  box_->list_uses(box->uses);
  box->source = std::shared_ptr<owner::GraphBox>(box_, &box_->outermost());
  box->last_addition = box_->outermost().additions;
  const std::vector<CUgraphNode> nodes = list_nodes(call);
  const std::size_t count = nodes.size();
  box->keeps_memory =
      !options.auto_free_on_launch && has_kind(call.api(), nodes, {CU_GRAPH_NODE_TYPE_MEM_ALLOC});
  box->interned_name =
      error::intern("graph of " + std::to_string(count) + (count == 1 ? " node" : " nodes"));
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  const auto add = [&](bool chosen, CUgraphInstantiate_flags flag) {
    if (chosen) params.flags |= static_cast<cuuint64_t>(flag);
  };
  add(options.auto_free_on_launch, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  add(options.upload_stream.has_value(), CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  add(options.device_launch, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
  add(options.use_node_priority, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  if (options.upload_stream) params.hUploadStream = options.upload_stream->box()->stream;
  CUgraphExec executable = nullptr;
  CUresult result = call.api().cuGraphInstantiateWithParams(&executable, call.graph(), &params);
  if (result == CUDA_SUCCESS && params.result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    result = CUDA_ERROR_INVALID_VALUE;
  }
  context.check(result, "cuGraphInstantiateWithParams", [&] {
    std::string text =
        "graph " + error::format_address(call.graph()) + instantiation_failure(call.api(), params);
    if (result == CUDA_ERROR_NOT_SUPPORTED &&
        has_kind(call.api(), nodes,
                 {CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE,
                  CU_GRAPH_NODE_TYPE_CONDITIONAL})) {
      text +=
          ", which has memory or conditional nodes, and so one Graph at a time: close the first "
          "Graph";
    }
    return text;
  });
  box->executable = executable;
  return Graph(std::move(box));
}

void GraphDefinition::write_dot(const std::string& path, unsigned flags) const {
  const GraphCall call(box_);
  error::check(call.api().cuGraphDebugDotPrint(call.graph(), path.c_str(), flags),
               "cuGraphDebugDotPrint", "the file " + path);
}

}  // namespace cudacore
