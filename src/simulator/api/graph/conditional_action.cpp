// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/graph/conditional_action.hpp"

namespace cudacore::simulator {

std::optional<std::size_t> ConditionalAction::selected() const noexcept {
  const std::uint32_t value = condition->value.load(std::memory_order_acquire);
  switch (kind) {
    case CU_GRAPH_COND_TYPE_IF:
      if (value != 0) return 0;
      return size == 2 ? std::optional<std::size_t>(1) : std::nullopt;
    case CU_GRAPH_COND_TYPE_WHILE:
      return value != 0 ? std::optional<std::size_t>(0) : std::nullopt;
    default:
      return value < size ? std::optional<std::size_t>(value) : std::nullopt;
  }
}

void ConditionalAction::describe(CUgraphNodeParams& parameters) const {
  parameters.conditional.handle = condition->handle;
  parameters.conditional.type = kind;
  parameters.conditional.size = size;
}

CUgraphExecUpdateResult ConditionalAction::can_become(const GraphAction& other) const {
  const auto& next = static_cast<const ConditionalAction&>(other);
  return kind == next.kind && size == next.size ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

std::string ConditionalAction::text() const {
  switch (kind) {
    case CU_GRAPH_COND_TYPE_IF:
      return "if";
    case CU_GRAPH_COND_TYPE_WHILE:
      return "while";
    default:
      return "switch";
  }
}

}  // namespace cudacore::simulator
