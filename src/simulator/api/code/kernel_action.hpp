// SPDX-License-Identifier: Apache-2.0
//
// Nodes that launch a kernel.
#pragma once

#include <map>
#include <span>

#include "simulator/api/code/launch.hpp"
#include "simulator/api/graph/graph_action.hpp"

namespace cudacore::simulator {

class KernelAction final : public GraphAction {
 public:
  using Attributes = std::map<CUlaunchAttributeID, CUlaunchAttributeValue>;

  /// The shape is the one that the program gave, before a check completes it.
  KernelAction(const LaunchShape& shape, CheckedLaunch launch, Attributes its_attributes);

  const Attributes attributes;

  /// The same launch with other attributes.
  CUresult with(const Attributes& changed, SharedAction& action) const;

  void describe(CUgraphNodeParams& parameters) const override;
  CUresult start(GraphRun& run) const override;
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& next) const override;
  [[nodiscard]] std::string text() const override;

 private:
  LaunchShape shape_;
  CheckedLaunch launch_;
  std::vector<void*> values_;  ///< where each parameter is in the launch
};

/// Adds a launch to the graph that the stream captures into.
CUresult capture_launch(const Stream& stream, const LaunchShape& shape, CheckedLaunch launch,
                        std::span<const CUlaunchAttribute> attributes);
/// Checks the parameters. Keeps the attributes of the action that it replaces.
CUresult make_kernel_action(const CUDA_KERNEL_NODE_PARAMS& parameters, const GraphAction* old,
                            SharedAction& action);

}  // namespace cudacore::simulator
