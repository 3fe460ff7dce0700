// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "simulator/engine/block.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/warp_run.hpp"
#include "simulator/memory/round_up.hpp"
#include "simulator/ops/families.hpp"

namespace cudacore::simulator {
namespace {

/// Makes some lanes of the running group continue at a target, and the others at the next
/// instruction.
void split(Warp& warp, const Instruction* target, std::uint32_t taken) {
  const Instruction* const next = warp.pc;
  if (target == next) return;
  if (target > next) {
    add_group(warp, target, warp.frame, taken);
    warp.active &= ~taken;
    warp.high = std::min(warp.high, target);
  } else {
    add_group(warp, next, warp.frame, warp.active & ~taken);
    warp.active = taken;
    warp.high = std::min(warp.high, next);
    jump(warp, target);
  }
}

void branch(Warp& warp, const Instruction& in) {
  const std::uint32_t taken = warp.enabled(in);
  const Instruction* const target = warp.frame->function->code.data() + in.imm;
  if (taken == warp.active) {
    jump(warp, target);
  } else if (taken != 0) {
    split(warp, target, taken);
  }
}

/// brx.idx: op[0] is a row of indices into op[1]'s list: a count, followed by that many
/// instructions.
void branch_table(Warp& warp, const Instruction& in) {
  const std::uint32_t* const index = warp.row<std::uint32_t>(in.op[0]);
  const std::uint32_t* const table = in.list + in.op[1];
  const Instruction* const code = warp.frame->function->code.data();
  std::uint32_t left = warp.enabled(in);
  if (left == 0) return;
  for (std::uint32_t lanes = left; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    if (index[lane] >= table[0]) {
      warp.fault(in, FaultKind::invalid_pc, lane,
                 "goes to target " + std::to_string(index[lane]) + " of a list of " +
                     std::to_string(table[0]));
      return;
    }
  }
  const bool all = left == warp.active;
  while (left != 0) {
    const std::uint32_t chosen = index[std::countr_zero(left)];
    std::uint32_t same = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      same |= (left >> lane & 1) != 0 && index[lane] == chosen ? 1u << lane : 0;
    }
    const Instruction* const target = code + table[1 + chosen];
    if (all && same == warp.active) {
      jump(warp, target);
      return;
    }
    add_group(warp, target, warp.frame, same);
    warp.active &= ~same;
    left &= ~same;
  }
  reschedule(warp);
}

constexpr std::uint32_t frame_cost = 16;  ///< of local memory: the least that a call takes on a GPU

/// Replaces the running group's frame by a new one, for a call by some of its lanes; nullptr after
/// a fault.
Frame* make_frame(Warp& warp, const Instruction& in, const Function& callee, std::uint32_t lanes) {
  Frame& caller = *warp.frame;
  const std::uint32_t align = std::max<std::uint32_t>(callee.local_align, 16);
  const std::uint64_t base = round_up(std::uint64_t{caller.local_top} + frame_cost, align);
  const std::uint64_t top = base + callee.local_bytes;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  if (top > std::uint64_t{local_begin} + warp.block->local_stride) {
    warp.fault(in, FaultKind::stack_overflow, lane,
               "overflows the stack of " + std::to_string(warp.block->local_stride) +
                   " bytes, at a depth of " + std::to_string(caller.depth + 1) + " calls");
    return nullptr;
  }
  Frame* const frame = state_of(warp).frames.take(callee);
  if (frame == nullptr) {
    warp.fault(in, FaultKind::stack_overflow, lane,
               "needs more than " + std::to_string(FrameArena::limit >> 20) +
                   " MiB of the host for the calls of a warp, at a depth of " +
                   std::to_string(caller.depth + 1));
    return nullptr;
  }
  frame->caller = &caller;
  frame->call = &in;
  frame->lanes = lanes;
  frame->depth = caller.depth + 1;
  frame->local_base = static_cast<std::uint32_t>(base);
  frame->local_top = static_cast<std::uint32_t>(top);

  const std::uint32_t* list = in.list + in.op[0];
  for (std::uint32_t left = *list++; left != 0; --left, list += 3) {
    std::memcpy(frame->rows + callee.parameters_at + list[1], caller.rows + list[0],
                std::size_t{list[2]} * warp_size);
  }
  return frame;
}

/// Copies the results of returning lanes to where the caller expects them.
void copy_results(const Frame& frame, std::uint32_t lanes) noexcept {
  const std::uint32_t* list = frame.call->list + frame.call->op[0];
  list += 1 + 3 * std::size_t{*list};
  for (std::uint32_t left = *list++; left != 0; --left, list += 4) {
    const std::byte* const from = frame.rows + frame.function->results_at + list[0];
    std::byte* const to = frame.caller->rows + list[1];
    const std::size_t stride = list[2];
    for (std::uint32_t mask = lanes; mask != 0; mask &= mask - 1) {
      const auto at = static_cast<unsigned>(std::countr_zero(mask)) * stride;
      std::memcpy(to + at, from + at, list[3]);
    }
  }
}

void call(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  const auto& callee = *reinterpret_cast<const Function*>(in.imm);
  Frame* const frame = make_frame(warp, in, callee, lanes);
  if (frame == nullptr) return;
  if (lanes != warp.active) add_group(warp, warp.pc, warp.frame, warp.active & ~lanes);
  warp.active = lanes;
  enter(warp, frame, callee.code.data());
}

void call_indirect(Warp& warp, const Instruction& in) {
  std::uint32_t left = warp.enabled(in);
  if (left == 0) return;
  const std::uint64_t* const pointer = warp.row<std::uint64_t>(in.op[1]);
  const Image& image = *warp.frame->function->image;
  const Instruction* const next = warp.pc;
  const std::uint32_t others = warp.active & ~left;
  Frame* first = nullptr;
  std::uint32_t first_lanes = 0;
  while (left != 0) {
    const auto lowest = static_cast<unsigned>(std::countr_zero(left));
    std::uint32_t same = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      same |= (left >> lane & 1) != 0 && pointer[lane] == pointer[lowest] ? 1u << lane : 0;
    }
    const Function* const callee = image.function_at(pointer[lowest]);
    if (callee == nullptr || callee->is_entry) {
      warp.fault(in, FaultKind::invalid_pc, lowest,
                 "calls " + std::to_string(pointer[lowest]) + ", which is not a function");
      return;
    }
    Frame* const frame = make_frame(warp, in, *callee, same);
    if (frame == nullptr) return;
    if (first == nullptr) {
      first = frame;
      first_lanes = same;
    } else {
      add_group(warp, callee->code.data(), frame, same);
    }
    left &= ~same;
  }
  if (others != 0) add_group(warp, next, warp.frame, others);
  warp.active = first_lanes;
  enter(warp, first, first->function->code.data());
}

void exit_lanes(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes != 0) end_lanes(warp, lanes);
}

void ret(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  Frame* const frame = warp.frame;
  Frame* const caller = frame->caller;
  if (caller == nullptr) {
    end_lanes(warp, lanes);
    return;
  }
  copy_results(*frame, lanes);
  const Instruction* const next = frame->call + 1;
  frame->lanes &= ~lanes;
  if (frame->lanes == 0) state_of(warp).frames.give_back(frame);
  if (lanes != warp.active) {
    add_group(warp, next, caller, lanes);
    warp.active &= ~lanes;
    return;
  }
  enter(warp, caller, next);
  if (!warp.groups.empty()) reschedule(warp);
}

void trap(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  warp.fault(in, FaultKind::trap, static_cast<unsigned>(std::countr_zero(lanes)),
             "ends the kernel");
}

/// The lanes of a warp may wake together, so all of them sleep as long as the one with the shortest
/// sleep.
void nanosleep(Warp& warp, const Instruction& in) {
  constexpr std::uint32_t longest = 1'000'000;
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  const std::uint32_t* const nanoseconds = warp.row<std::uint32_t>(in.op[0]);
  std::uint32_t least = longest;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    least = std::min(least, nanoseconds[std::countr_zero(left)]);
  }
  if (least == 0) {
    warp.yield();
  } else {
    sleep(warp, lanes, std::chrono::nanoseconds(least));
  }
}

void nothing(Warp&, const Instruction&) {}

}  // namespace

void add_control(FormTable& table) {
  table.add({"bra"}, "l", branch, {.effect = Effect::branches, .ends_path = true});
  table.add({"brx.idx"}, "w", branch_table,
            {.only_reads = true, .ends_path = true, .role = Role::branch_table});
  table.add({"call"}, "", call, {.effect = Effect::acts});
  table.add({"call.indirect"}, "", call_indirect, {.effect = Effect::acts});
  table.add({"ret"}, "", ret, {.ends_path = true, .role = Role::ret});
  table.add({"exit"}, "", exit_lanes, {.ends_path = true});
  table.add({"trap"}, "", trap, {.ends_path = true});
  table.add({"brkpt"}, "", trap);
  table.add({"nanosleep.u32"}, "w", nanosleep, {.effect = Effect::looks, .only_reads = true});
  table.add({"pmevent"}, "i", nothing);
  table.add({"pmevent.mask"}, "i", nothing);
  table.add({"griddepcontrol.launch_dependents"}, "", nothing);
  table.add({"griddepcontrol.wait"}, "", nothing);
  table.add({"setmaxnreg.inc.sync.aligned.u32"}, "i", nothing);
  table.add({"setmaxnreg.dec.sync.aligned.u32"}, "i", nothing);
}

}  // namespace cudacore::simulator
