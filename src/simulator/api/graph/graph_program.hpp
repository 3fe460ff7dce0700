// SPDX-License-Identifier: Apache-2.0
//
// What an executable graph does: the nodes of a graph, and of the graphs in it, in an order in
// which they can run one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/api/graph/graph.hpp"

namespace cudacore::simulator {

struct GraphStep {
  /// The end of a program, or an empty body.
  static constexpr std::size_t none = SIZE_MAX;

  CUgraphNode node = nullptr;  ///< where it comes from
  SharedAction action;
  bool enabled = true;
  std::size_t next = none;           ///< the step that follows
  std::size_t inner = 0;             ///< how many of the steps after it belong to graphs in it
  std::vector<std::size_t> bodies;   ///< the first step of each body of a conditional node
  std::vector<GraphEdge> edges;      ///< the node's dependencies; the nodes may be gone
  std::vector<std::size_t> sources;  ///< their steps
};

struct GraphProgram {
  struct Initial {
    std::shared_ptr<Condition> condition;
    unsigned value;
  };

  std::vector<GraphStep> steps;
  std::unordered_map<CUgraphNode, std::size_t> by_node;
  std::vector<Initial> conditions;  ///< set at the start of each run
  std::vector<UserReferences> user_objects;
};

/// Why a graph can't be executed.
struct GraphFlaw {
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  CUgraphNode node = nullptr;
};

/// Orders a graph's nodes: by their dependencies, and otherwise as they were added.
CUresult make_program(const Graph& graph, GraphProgram& program, GraphFlaw& flaw);

/// Gives a program the actions of one whose graph has the same form. Otherwise changes nothing, and
/// says what differs.
CUresult update_program(GraphProgram& program, const GraphProgram& next,
                        CUgraphExecUpdateResultInfo& info);
/// The same for the child node of a step.
CUresult update_child(GraphProgram& program, std::size_t step, const GraphProgram& next);

}  // namespace cudacore::simulator
