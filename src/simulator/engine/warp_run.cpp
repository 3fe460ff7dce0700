// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/warp_run.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "simulator/engine/barriers.hpp"
#include "simulator/engine/image.hpp"

namespace cudacore::simulator {
namespace {

/// An address at which there is no instruction.
const Instruction* no_limit() noexcept {
  return reinterpret_cast<const Instruction*>(~std::uintptr_t{0} / 64 * 64);
}

bool goes_before(const Group& a, const Group& b) noexcept {
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.pc < b.pc;
}

/// Merges groups that are at the same place and can run.
void merge(std::vector<Group>& groups) noexcept {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = groups.size() - 1; j > i; --j) {
      Group& a = groups[i];
      const Group& b = groups[j];
      if (a.pc != b.pc || a.frame != b.frame || a.wait != Wait::none || b.wait != Wait::none) {
        continue;
      }
      a.lanes |= b.lanes;
      groups[j] = groups.back();
      groups.pop_back();
    }
  }
}

std::size_t first_of(const std::vector<Group>& groups, std::uint32_t among) noexcept {
  std::size_t best = groups.size();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].wait != Wait::none || (groups[i].lanes & among) == 0) continue;
    if (best == groups.size() || goes_before(groups[i], groups[best])) best = i;
  }
  return best;
}

}  // namespace

void add_group(Warp& warp, const Instruction* pc, Frame* frame, std::uint32_t lanes) {
  for (Group& group : warp.groups) {
    if (group.pc == pc && group.frame == frame && group.wait == Wait::none) {
      group.lanes |= lanes;
      return;
    }
  }
  warp.groups.push_back(Group{pc, frame, lanes, Wait::none, 0});
}

void park(Warp& warp, std::uint32_t lanes, const Instruction* pc, Wait wait, std::uint32_t detail) {
  warp.groups.push_back(Group{pc, warp.frame, lanes, wait, detail});
  warp.active &= ~lanes;
  if (warp.active == 0) reschedule(warp);
}

void enter(Warp& warp, Frame* frame, const Instruction* pc) noexcept {
  warp.frame = frame;
  warp.rows = frame->rows;
  warp.pc = pc;
  warp.low = nullptr;
  warp.high = no_limit();
}

void wake(Warp& warp, Group& group) noexcept {
  group.wait = Wait::none;
  resident(*warp.block).ready |= 1u << warp.index;
}

void sleep(Warp& warp, std::uint32_t lanes, std::chrono::nanoseconds time) {
  ResidentBlock& block = resident(*warp.block);
  const std::uint32_t bit = 1u << warp.index;
  const auto wakes = std::chrono::steady_clock::now() + time;
  auto& earliest = block.states[warp.index].wakes;
  earliest = (block.asleep & bit) != 0 ? std::min(earliest, wakes) : wakes;
  block.asleep |= bit;
  park(warp, lanes, warp.pc, Wait::time, 0);
}

void wake_sleepers(ResidentBlock& block) noexcept {
  const auto now = std::chrono::steady_clock::now();
  for (std::uint32_t left = block.asleep; left != 0; left &= left - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(left));
    if (block.states[index].wakes > now) continue;
    block.asleep &= ~(1u << index);
    Warp& warp = block.warps[index];
    for (Group& group : warp.groups) {
      if (group.wait == Wait::time) wake(warp, group);
    }
  }
}

void end_lanes(Warp& warp, std::uint32_t lanes) {
  WarpState& state = state_of(warp);
  for (Frame* frame = warp.frame; frame != nullptr;) {
    Frame* const caller = frame->caller;
    frame->lanes &= ~lanes;
    if (frame->lanes == 0) state.frames.give_back(frame);
    frame = caller;
  }
  warp.active &= ~lanes;
  warp.living &= ~lanes;
  if (warp.active == 0) reschedule(warp);
  for (Group& group : warp.groups) {
    if (group.wait == Wait::lanes) wake(warp, group);
  }
  threads_ended(warp, lanes);
}

bool can_run(const Warp& warp) noexcept {
  return warp.active != 0 ||
         std::any_of(warp.groups.begin(), warp.groups.end(),
                     [](const Group& group) { return group.wait == Wait::none; });
}

bool schedule(Warp& warp) noexcept {
  if (warp.groups.empty()) [[likely]] {
    warp.low = nullptr;
    warp.high = no_limit();
    return warp.active != 0;
  }
  std::vector<Group>& groups = warp.groups;
  if (warp.active != 0) {
    groups.push_back(Group{warp.pc, warp.frame, warp.active, Wait::none, 0});
    warp.active = 0;
  }
  merge(groups);
  WarpState& state = state_of(warp);
  std::size_t best = first_of(groups, state.favoured);
  if (best == groups.size()) {
    state.favoured = all_lanes;
    best = first_of(groups, all_lanes);
    if (best == groups.size()) return false;
  }
  const Group next = groups[best];
  groups[best] = groups.back();
  groups.pop_back();
  enter(warp, next.frame, next.pc);
  warp.active = next.lanes;
  for (const Group& group : groups) {
    if (group.frame != next.frame || group.wait != Wait::none) continue;
    if (group.pc > next.pc) {
      warp.high = std::min(warp.high, group.pc);
    } else {
      warp.low = std::max(warp.low, group.pc);
    }
  }
  return true;
}

void rotate(Warp& warp) noexcept {
  if (warp.groups.empty()) return;
  WarpState& state = state_of(warp);
  if (state.favoured != all_lanes) {
    state.favoured = all_lanes;
    return;
  }
  for (unsigned i = 0; i < warp_size; ++i) {
    const unsigned lane = (state.next_favoured + i) % warp_size;
    for (const Group& group : warp.groups) {
      if (group.wait != Wait::none || (group.lanes >> lane & 1) == 0) continue;
      state.favoured = group.lanes;
      state.next_favoured = lane + 1;
      return;
    }
  }
}

bool only_looks(const Warp& warp) noexcept {
  constexpr std::size_t longest = 24;
  if (warp.active == 0) return false;
  const Function& function = *warp.frame->function;
  const auto here = static_cast<std::size_t>(warp.pc - function.code.data());
  const std::span effects(function.effects);
  for (std::size_t end = here; end < std::min(effects.size(), here + longest); ++end) {
    if (effects[end] != Effect::branches) continue;
    const std::size_t begin = function.code[end].imm;
    if (begin > here || end - begin > longest) continue;
    const auto loop = effects.subspan(begin, end - begin);
    return std::ranges::find(loop, Effect::acts) == loop.end() &&
           std::ranges::find(loop, Effect::looks) != loop.end();
  }
  return false;
}

}  // namespace cudacore::simulator
