// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "runtime/context_call.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_work_box.hpp"

namespace cudacore {
namespace {

const char* name_of(ConditionKind kind) noexcept {
  return kind == ConditionKind::if_ ? "if" : kind == ConditionKind::while_ ? "while" : "switch";
}

bool can_have(ConditionKind kind, std::size_t branches) noexcept {
  constexpr std::size_t most = 1U << 20U;
  switch (kind) {
    case ConditionKind::if_:
      return branches == 1 || branches == 2;
    case ConditionKind::while_:
      return branches == 1;
    default:
      return branches >= 1 && branches <= most;
  }
}

}  // namespace

GraphCondition GraphDefinition::create_condition(
    const std::optional<unsigned>& default_value) const {
  if (graph_api().cuGraphConditionalHandleCreate == nullptr) {
    driver::throw_missing_symbol("cuGraphConditionalHandleCreate", 12030);
  }
  const ContextCall context(error::current_context());
  const GraphCall call(box_);
  CUgraphConditionalHandle handle = 0;
  call.check(call.api().cuGraphConditionalHandleCreate(
                 &handle, call.graph(), context.context()->context, default_value.value_or(0),
                 default_value ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0),
             "cuGraphConditionalHandleCreate");
  return {handle, box_};
}

GraphWork GraphWork::conditional(const GraphCondition& condition, ConditionKind kind,
                                 std::size_t branches) {
  if (!can_have(kind, branches)) {
    throw_invalid(std::string("a conditional node of kind ") + name_of(kind) + " cannot have " +
                  std::to_string(branches) + (branches == 1 ? " branch" : " branches"));
  }
  auto work = new_work(CU_GRAPH_NODE_TYPE_CONDITIONAL, name_of(kind) + std::string(" node"));
  CUDA_CONDITIONAL_NODE_PARAMS& params = work->params.conditional;
  params.handle = condition.handle();
  params.type = static_cast<CUgraphConditionalNodeType>(kind);
  params.size = static_cast<unsigned>(branches);
  params.ctx = work->context->context;
  work->condition_of = condition.graph_box();
  return GraphWork(std::move(work));
}

std::vector<GraphDefinition> GraphNode::branches() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  std::vector<GraphDefinition> branches;
  branches.reserve(box_->graphs.size());
  for (owner::GraphBox* branch : box_->graphs) {
    branches.emplace_back(std::shared_ptr<owner::GraphBox>(graph_, branch));
  }
  return branches;
}

std::optional<GraphCondition> GraphNode::condition() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  if (box_->graphs.empty()) return std::nullopt;
  return GraphCondition(box_->condition, graph_);
}

std::optional<ConditionKind> GraphNode::condition_kind() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  if (box_->graphs.empty()) return std::nullopt;
  return static_cast<ConditionKind>(box_->condition_kind);
}

}  // namespace cudacore
