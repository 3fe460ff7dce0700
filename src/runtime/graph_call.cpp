// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph_call.hpp"

#include <stdexcept>
#include <string_view>

namespace cudacore {

const driver::DriverApi& graph_api() {
  const driver::DriverApi& api = driver::api();
  if (api.cuGraphAddNode == nullptr) driver::throw_missing_symbol("cuGraphAddNode", 12030);
  return api;
}

const char* kind_name(CUgraphNodeType type) noexcept {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "memcpy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "memset";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "host callback";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "child graph";
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return "empty";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "event wait";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "event record";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "allocation";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "free";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "conditional";
    default:
      return "other";
  }
}

std::string function_name(const driver::DriverApi& api, CUfunction function) {
  const char* name = nullptr;
  if (function != nullptr && api.cuFuncGetName != nullptr) {
    (void)api.cuFuncGetName(&name, function);
  }
  return name == nullptr ? std::string() : name;
}

GraphCall::GraphCall(const std::shared_ptr<owner::GraphBox>& graph)
    : api_(&graph_api()), graph_(graph.get()), lock_(graph->outermost().family) {
  if (graph_->outermost().made_after != error::resets.load(std::memory_order_relaxed)) {
    error::throw_stale("this graph is");
  }
  if (graph_->graph == nullptr) {
    throw_invalid("this graph ended when the node that contains it was destroyed");
  }
}

CUgraphNode GraphCall::node(const GraphNode& node) const {
  if (node.box()->node == nullptr) {
    throw_invalid("the node has been destroyed");
  }
  if (node.graph_box().get() != graph_) {
    throw_invalid(std::string("the ") + kind_name(node.box()->type) + " node is of another graph");
  }
  return node.box()->node;
}

std::size_t count_nodes(const GraphCall& call) {
  std::size_t count = 0;
  call.check(call.api().cuGraphGetNodes(call.graph(), nullptr, &count), "cuGraphGetNodes");
  return count;
}

std::vector<CUgraphNode> list_nodes(const GraphCall& call) {
  std::size_t count = count_nodes(call);
  std::vector<CUgraphNode> nodes(count);
  if (count != 0) {
    call.check(call.api().cuGraphGetNodes(call.graph(), nodes.data(), &count), "cuGraphGetNodes");
  }
  return nodes;
}

NodeCall::NodeCall(const GraphNode& node, CUgraphNodeType type) : NodeCall(node) {
  require(node, node.box()->type == type, kind_name(type));
}

void NodeCall::require(const GraphNode& node, bool fits, const char* wanted) {
  if (fits) return;
  const auto with_article = [](const char* kind) {
    const bool has_vowel = std::string_view("aeiou").find(*kind) != std::string_view::npos;
    return std::string(has_vowel ? "an " : "a ") + kind;
  };
  throw std::invalid_argument("this is " + with_article(kind_name(node.box()->type)) +
                              " node, not " + with_article(wanted) + " node");
}

}  // namespace cudacore
