// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/graph/graph_program.hpp"

#include <functional>
#include <queue>
#include <utility>

#include "simulator/api/graph/conditional_action.hpp"

namespace cudacore::simulator {

namespace {

bool can_be_in_body(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return true;
    default:
      return false;
  }
}

/// Writes the steps of a graph.
class Compiler {
 public:
  Compiler(GraphProgram& program, GraphFlaw& flaw) : program_(program), flaw_(flaw) {}

  /// Returns the steps whose `next` is what follows the graph; none if the graph is empty.
  CUresult add(const Graph& graph, std::vector<std::size_t>& exits) {
    in_body_ = in_body_ || graph.is_body;
    std::vector<const GraphNode*> order;
    if (!sort(graph, order)) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
    }
    for (const Graph::ConditionalHandle& handle : graph.conditions) {
      if (!handle.is_used) {
        flaw_.result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
        return refuse(CUDA_ERROR_INVALID_VALUE, "no node uses a conditional handle of the graph");
      }
      if ((handle.flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) {
        program_.conditions.push_back({handle.condition, handle.initial});
      }
    }
    for (const GraphNode* node : order) {
      if (in_body_ && !can_be_in_body(node->action->type)) {
        flaw_ = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node->handle};
        return refuse(
            CUDA_ERROR_INVALID_VALUE,
            "the body of a conditional node can't have this node: " + node->action->text());
      }
      const std::size_t index = program_.steps.size();
      follow(exits, index);
      exits = {index};
      add_step(*node);
      const CUresult result = node->action->type == CU_GRAPH_NODE_TYPE_CONDITIONAL
                                  ? add_conditional(*node, index, exits)
                                  : add_child(*node, index, exits);
      if (result != CUDA_SUCCESS) return result;
      program_.steps[index].inner = program_.steps.size() - index - 1;
    }
    return CUDA_SUCCESS;
  }

 private:
  /// The first of the nodes that are ready is always the one that was added first.
  bool sort(const Graph& graph, std::vector<const GraphNode*>& order) {
    std::unordered_map<const GraphNode*, std::size_t> place;
    std::vector<std::size_t> missing(graph.nodes.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      place.emplace(graph.nodes[i].get(), i);
      missing[i] = graph.nodes[i]->dependencies.size();
      if (missing[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
      const GraphNode& node = *graph.nodes[ready.top()];
      ready.pop();
      order.push_back(&node);
      for (const GraphEdge& edge : node.dependents) {
        const std::size_t i = place.at(edge.node);
        if (--missing[i] == 0) ready.push(i);
      }
    }
    if (order.size() == graph.nodes.size()) return true;
    flaw_.result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    for (std::size_t i = 0; i < missing.size() && flaw_.node == nullptr; ++i) {
      if (missing[i] != 0) flaw_.node = graph.nodes[i]->handle;
    }
    return false;
  }

  void add_step(const GraphNode& node) {
    GraphStep step;
    step.node = node.handle;
    step.action = node.action;
    step.edges = node.dependencies;
    for (const GraphEdge& edge : node.dependencies) {
      step.sources.push_back(program_.by_node.at(edge.node->handle));
    }
    program_.by_node.emplace(node.handle, program_.steps.size());
    program_.steps.push_back(std::move(step));
  }

  void follow(const std::vector<std::size_t>& exits, std::size_t next) {
    for (const std::size_t exit : exits) program_.steps[exit].next = next;
  }

  CUresult add_child(const GraphNode& node, std::size_t index, std::vector<std::size_t>& exits) {
    for (const auto& child : node.bodies) {
      std::vector<std::size_t> inner;
      if (const CUresult result = add(*child, inner); result != CUDA_SUCCESS) return result;
      if (inner.empty()) continue;
      program_.steps[index].next = index + 1;
      exits = std::move(inner);
    }
    return CUDA_SUCCESS;
  }

  CUresult add_conditional(const GraphNode& node, std::size_t index,
                           std::vector<std::size_t>& exits) {
    const auto& action = static_cast<const ConditionalAction&>(*node.action);
    const bool was_in_body = in_body_;
    for (const auto& body : node.bodies) {
      const std::size_t first = program_.steps.size();
      std::vector<std::size_t> inner;
      if (const CUresult result = add(*body, inner); result != CUDA_SUCCESS) return result;
      const bool repeats = action.kind == CU_GRAPH_COND_TYPE_WHILE;
      const std::size_t when_empty = repeats ? index : GraphStep::none;
      program_.steps[index].bodies.push_back(inner.empty() ? when_empty : first);
      if (repeats) {
        follow(inner, index);
      } else {
        exits.insert(exits.end(), inner.begin(), inner.end());
      }
      in_body_ = was_in_body;
    }
    return CUDA_SUCCESS;
  }

  GraphProgram& program_;
  GraphFlaw& flaw_;
  bool in_body_ = false;  ///< of a conditional node
};

/// Compares a step with the one that would replace it. `first` is where the replaced graph begins;
/// `source` becomes the dependency that differs.
CUgraphExecUpdateResult compare(const GraphStep& before, const GraphStep& after, std::size_t first,
                                std::size_t& source) {
  if (before.action->type != after.action->type)
    return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (before.inner != after.inner || before.sources.size() != after.sources.size()) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  for (std::size_t i = 0; i < before.sources.size(); ++i) {
    const CUgraphEdgeData& one = before.edges[i].data;
    const CUgraphEdgeData& other = after.edges[i].data;
    if (before.sources[i] == after.sources[i] + first && one.from_port == other.from_port &&
        one.type == other.type) {
      continue;
    }
    source = after.sources[i];
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  return before.action->can_become(*after.action);
}

/// Replaces the actions of the steps from `first` on.
CUresult update_steps(GraphProgram& program, std::size_t first, std::size_t count,
                      const GraphProgram& next, CUgraphExecUpdateResultInfo& info) {
  info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
  if (count != next.steps.size()) {
    info.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return refuse(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                  "the graphs have different numbers of nodes");
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t source = GraphStep::none;
    info.result = compare(program.steps[first + i], next.steps[i], first, source);
    if (info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) continue;
    // The driver names no node if edges are missing.
    if (info.result != CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED || source != GraphStep::none) {
      info.errorNode = next.steps[i].node;
    }
    if (source != GraphStep::none) info.errorFromNode = next.steps[source].node;
    const char* what = info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
                           ? "the edges differ at a node: "
                           : "a node changed in a way that an executable graph can't take over: ";
    return refuse(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, what + next.steps[i].action->text());
  }
  for (std::size_t i = 0; i < count; ++i) {
    program.steps[first + i].action = next.steps[i].action;
  }
  return CUDA_SUCCESS;
}

/// Adds what a graph keeps, and what those that its nodes contain keep.
void add_user_objects(const Graph& graph, std::vector<UserReferences>& objects) {
  objects.insert(objects.end(), graph.user_objects.begin(), graph.user_objects.end());
  for (const auto& node : graph.nodes) {
    for (const auto& body : node->bodies) add_user_objects(*body, objects);
  }
}

}  // namespace

CUresult make_program(const Graph& graph, GraphProgram& program, GraphFlaw& flaw) {
  add_user_objects(graph, program.user_objects);
  std::vector<std::size_t> exits;
  const CUresult result = Compiler(program, flaw).add(graph, exits);
  if (result != CUDA_SUCCESS && flaw.result == CUDA_GRAPH_INSTANTIATE_SUCCESS) {
    flaw.result = CUDA_GRAPH_INSTANTIATE_ERROR;
  }
  return result;
}

CUresult update_program(GraphProgram& program, const GraphProgram& next,
                        CUgraphExecUpdateResultInfo& info) {
  const CUresult result = update_steps(program, 0, program.steps.size(), next, info);
  if (result != CUDA_SUCCESS) return result;
  program.conditions = next.conditions;
  program.user_objects = next.user_objects;
  return CUDA_SUCCESS;
}

CUresult update_child(GraphProgram& program, std::size_t step, const GraphProgram& next) {
  CUgraphExecUpdateResultInfo info;
  const CUresult result = update_steps(program, step + 1, program.steps[step].inner, next, info);
  if (result != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  program.user_objects.insert(program.user_objects.end(), next.user_objects.begin(),
                              next.user_objects.end());
  return CUDA_SUCCESS;
}

}  // namespace cudacore::simulator
