// SPDX-License-Identifier: Apache-2.0
//
// What the nodes of graphs do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/api/cuda_api.hpp"
#include "simulator/api/stream/command_queue.hpp"

namespace cudacore::simulator {

class GraphRun;

/// What a node does, with its parameters. An action never changes: a node is given another one.
/// So graphs, executable graphs and launches share it, and what it needs.
class GraphAction {
 public:
  explicit GraphAction(CUgraphNodeType its_type) noexcept : type(its_type) {}
  virtual ~GraphAction() = default;
  GraphAction(const GraphAction&) = delete;
  GraphAction& operator=(const GraphAction&) = delete;

  const CUgraphNodeType type;

  /// Writes the parameters. What they point to lives as long as the action.
  virtual void describe(CUgraphNodeParams&) const {}
  /// Called when a launch is queued, in the order of the nodes.
  virtual CUresult queued(GraphRun&) const { return CUDA_SUCCESS; }
  /// Enqueues the node's work when it is its turn. @throws std::bad_alloc
  virtual CUresult start(GraphRun&) const { return CUDA_SUCCESS; }
  /// Whether an executable graph may do `next`, which has the same type, instead.
  [[nodiscard]] virtual CUgraphExecUpdateResult can_become(const GraphAction&) const {
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  }
  /// A line for people.
  [[nodiscard]] virtual std::string text() const;
};

using SharedAction = std::shared_ptr<const GraphAction>;

/// Makes the action that parameters describe; checks them. `old` is what the node did before, or
/// null. Writes results, such as an address, into the parameters.
CUresult make_action(CUgraphNodeParams& parameters, const GraphAction* old, SharedAction& action);

}  // namespace cudacore::simulator
