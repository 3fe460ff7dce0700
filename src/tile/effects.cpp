// SPDX-License-Identifier: Apache-2.0
#include "tile/effects.hpp"

#include <algorithm>

#include "tile/exchange.hpp"
#include "tile/lowering.hpp"
#include "tile/operations.hpp"

namespace cudacore::tile {
namespace {

std::string pattern(const Operation& operation) {
  if (!operation.is("load") && !operation.is("store")) return {};
  const Value* const tile = operation.is("load") ? operation.result() : operation.operand(1);
  if (!tile->type.is_tile() || tile->layout.is_replicated()) return {};
  std::string text = to_string(tile->type) + to_string(tile->layout) + operation.operand(0)->name;
  for (const char* const key : {"origin", "strides"})
    for (const Operand& operand : operation.group(key))
      text += operand.value == nullptr ? " " + std::to_string(operand.literal)
                                       : " %" + operand.value->name;
  return text;
}

Access global(const Operation& operation, bool writes) {
  Access access;
  access.writes = writes;
  access.root = pointer_root(operation.operand(0));
  access.pattern = pattern(operation);
  return access;
}

Access scratch(const Operation& operation, bool writes) {
  Access access;
  access.writes = writes;
  access.begin = operation.scratch_offset;
  access.end = operation.scratch_offset + operation.scratch_bytes;
  return access;
}

bool conflict(const Access& a, const Access& b) {
  if ((!a.writes && !b.writes) || a.root != b.root) return false;
  if (!a.root && (a.begin >= b.end || b.begin >= a.end)) return false;
  return a.pattern.empty() || a.pattern != b.pattern;
}

using State = std::vector<Access>;

void merge(State& into, const State& from, bool keep_patterns) {
  for (Access access : from) {
    // Another turn of a loop may touch other elements; what one warp exchanges stays its own.
    if (!keep_patterns && access.root) access.pattern.clear();
    if (std::find(into.begin(), into.end(), access) == into.end()) into.push_back(access);
  }
}

class Placer {
 public:
  explicit Placer(const Lowering& lowering) : lowering_(lowering) {}

  void region(Region& region) {
    for (const std::unique_ptr<Operation>& operation : region.operations) visit(*operation);
  }

 private:
  struct Loop {
    State next;  // when an iteration begins again
    State left;  // when the loop is left by break
  };

  void visit(Operation& operation) {
    if (operation.is("for") || operation.is("loop")) return loop(operation);
    if (operation.is("if")) return branch(operation);
    if (operation.is("continue")) return merge(loops_.back().next, state_, false);
    if (operation.is("break")) return merge(loops_.back().left, state_, false);
    const std::vector<Phase> phases = effects(operation, lowering_);
    operation.barriers.resize(phases.size());
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const bool meets = std::any_of(
          phases[i].accesses.begin(), phases[i].accesses.end(), [&](const Access& access) {
            return std::any_of(state_.begin(), state_.end(),
                               [&](const Access& other) { return conflict(access, other); });
          });
      if (phases[i].is_barrier) {
        state_.clear();
      } else if (meets || operation.barriers[i]) {
        operation.barriers[i] = true;
        state_.clear();
      }
      merge(state_, phases[i].accesses, true);
    }
  }

  void loop(Operation& operation) {
    loops_.emplace_back();
    const State before = state_;
    // The second walk sees what an iteration leaves to the next.
    for (int walk = 0; walk < 2; ++walk) {
      state_ = before;
      merge(state_, loops_.back().next, false);
      region(operation.region(0));
    }
    const Loop ended = std::move(loops_.back());
    loops_.pop_back();
    state_ = operation.is("for") ? before : State{};
    if (operation.is("for")) merge(state_, ended.next, false);
    merge(state_, ended.left, false);
  }

  void branch(Operation& operation) {
    const State before = state_;
    State after;
    for (const std::unique_ptr<Region>& inner : operation.regions) {
      state_ = before;
      region(*inner);
      if (inner->operations.empty() || inner->operations.back()->is("yield") ||
          !is_terminator(*inner->operations.back()))
        merge(after, state_, true);
    }
    if (operation.regions.size() == 1) merge(after, before, true);
    state_ = std::move(after);
  }

  const Lowering& lowering_;
  State state_;
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Phase> effects(const Operation& operation, const Lowering& lowering) {
  if (auto own = lowering.effects(operation)) return std::move(*own);
  const auto one = [](Access access) { return std::vector<Phase>{{{std::move(access)}, false}}; };
  if (operation.is("load") || operation.is("load_at")) {
    std::vector<Phase> phases = one(global(operation, false));
    const std::string order = operation.word("mem", "weak");
    // What an acquire sees, all threads of the block see.
    if (order == "acquire" || order == "acq_rel") phases.push_back({{}, true});
    return phases;
  }
  if (writes_memory(operation)) {
    std::vector<Phase> phases;
    const std::string order = operation.word("mem", "weak");
    if (order == "release" || order == "acq_rel") phases.push_back({{}, true});
    phases.push_back({{global(operation, true)}, false});
    if (operation.scratch_bytes > 0) {
      phases.push_back({{scratch(operation, true)}, false});
      phases.push_back({{scratch(operation, false)}, false});
    }
    if (order == "acquire" || order == "acq_rel") phases.push_back({{}, true});
    return phases;
  }
  if (operation.is("grid_wait")) return {{{}, true}};
  if (operation.scratch_bytes == 0) return {};
  if (operation.is("print"))
    return {{{scratch(operation, true), scratch(operation, false)}, false}};
  if (operation.is("convert") &&
      exchange(operation.operand(0)->layout, operation.result()->layout) == Exchange::warp) {
    std::vector<Access> accesses = {scratch(operation, true), scratch(operation, false)};
    for (Access& access : accesses) access.pattern = operation.result()->name;
    return {{accesses, false}};
  }
  return {{{scratch(operation, true)}, false}, {{scratch(operation, false)}, false}};
}

void place_barriers(Kernel& kernel, const Lowering& lowering) {
  Placer(lowering).region(kernel.body);
}

}  // namespace cudacore::tile
