// SPDX-License-Identifier: Apache-2.0
//
// Runs a warp: the interpreter's loop, and which group of lanes goes first.
//
// The group in the deepest call runs first; among several, the one at the lowest instruction.
// Because of how code is laid out, that is the one the others wait for. Groups that meet become
// one. So that a lane can wait for another lane (with a spin lock), every other turn goes to some
// other group, wherever it is.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>

#include "simulator/engine/block.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// The number of instructions in a turn: for a group that makes progress, and the minimum for one
/// that spins, which gets fewer each time.
inline constexpr std::int32_t longest_turn = 2048;
inline constexpr std::int32_t shortest_turn = 64;

/// Ends the loop before the next instruction, so that the scheduler selects a group again.
inline void reschedule(Warp& warp) noexcept { warp.high = warp.pc; }

/// Makes the running group continue at the target.
[[gnu::always_inline]] inline void jump(Warp& warp, const Instruction* target) noexcept {
  warp.pc = target;
  if (target <= warp.low || target >= warp.high) [[unlikely]]
    warp.high = target;
}

/// Adds lanes that continue elsewhere, later. They join a group that is already there.
void add_group(Warp& warp, const Instruction* pc, Frame* frame, std::uint32_t lanes);

/// Takes lanes out of the running group until the wait is over; they then continue at pc.
void park(Warp& warp, std::uint32_t lanes, const Instruction* pc, Wait wait, std::uint32_t detail);

/// Moves the running group to another frame.
void enter(Warp& warp, Frame* frame, const Instruction* pc) noexcept;

/// Called when lanes of the running group have ended: frees their frames, and lets those that wait
/// for them check again.
void end_lanes(Warp& warp, std::uint32_t lanes);

/// Called when the wait of a group of this warp is over.
void wake(Warp& warp, Group& group) noexcept;

/// Takes lanes out of the running group for a time. All sleeping lanes of a warp wake together,
/// with the first.
void sleep(Warp& warp, std::uint32_t lanes, std::chrono::nanoseconds time);

/// Wakes those of a block whose time has come.
void wake_sleepers(ResidentBlock& block) noexcept;

/// Whether some group can run.
[[nodiscard]] bool can_run(const Warp& warp) noexcept;

/// Selects the group that goes first as the running one; returns false if all of them wait.
bool schedule(Warp& warp) noexcept;

/// At the end of a turn: gives the next turn to another group.
void rotate(Warp& warp) noexcept;

/// Whether the running group is in a short loop that only polls memory, waiting for a change.
[[nodiscard]] bool only_looks(const Warp& warp) noexcept;

/// How a turn ended.
enum class TurnEnd : std::uint8_t {
  blocked,  ///< all lanes wait, or have ended
  expired,
  yielded,  ///< gave way early
};

/// Called for every instruction before it runs. This one does nothing, and costs nothing. A variant
/// of the loop (counting, coverage, race detection) is another class with the same function.
struct NoObserver {
  [[gnu::always_inline]] void before(const Warp&, const Instruction&) noexcept {}
};

/// Counts the PTX instructions that threads run, including those that their guards suppress.
/// Instructions that the decoder adds don't count.
struct InstructionCounter {
  std::uint64_t thread_instructions = 0;
  [[gnu::always_inline]] void before(const Warp& warp, const Instruction& instruction) noexcept {
    const Instruction* const first = warp.frame->function->code.data();
    if (&instruction != first && (&instruction)[-1].where == instruction.where) return;
    thread_instructions += static_cast<unsigned>(std::popcount(warp.active));
  }
};

/// Runs a warp that is able to run for one turn.
template <class Observer>
TurnEnd run_turn(Warp& warp, Observer& observer) {
  warp.slice = state_of(warp).turn;
  while (schedule(warp)) {
    do {
      const Instruction& instruction = *warp.pc;
      warp.pc = &instruction + 1;
      observer.before(warp, instruction);
      instruction.run(warp, instruction);
    } while (warp.pc != warp.high && --warp.slice > 0);
    if (warp.slice <= 0) {
      rotate(warp);
      return !can_run(warp)   ? TurnEnd::blocked
             : warp.slice < 0 ? TurnEnd::yielded
                              : TurnEnd::expired;
    }
  }
  return TurnEnd::blocked;
}

}  // namespace cudacore::simulator
