// SPDX-License-Identifier: Apache-2.0
//
// Nodes that run one of their bodies, or repeat it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "simulator/api/graph/graph_action.hpp"
#include "simulator/engine/conditions.hpp"

namespace cudacore::simulator {

class ConditionalAction final : public GraphAction {
 public:
  ConditionalAction(std::shared_ptr<Condition> its_condition, CUgraphConditionalNodeType its_kind,
                    unsigned its_size) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_CONDITIONAL),
        condition(std::move(its_condition)),
        kind(its_kind),
        size(its_size) {}

  const std::shared_ptr<Condition> condition;
  const CUgraphConditionalNodeType kind;
  const unsigned size;  ///< how many bodies it has

  /// The body that the condition selects now; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> selected() const noexcept;

  void describe(CUgraphNodeParams& parameters) const override;
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& next) const override;
  [[nodiscard]] std::string text() const override;
};

}  // namespace cudacore::simulator
