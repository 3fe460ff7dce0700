// SPDX-License-Identifier: Apache-2.0
//
// Runs a warp: the interpreter's loop, and which group of lanes goes first.
//
// The group in the deepest call runs, among those the one at the lowest instruction: it is the one
// the others wait for, as code is laid out. Groups that meet become one. So that a lane may wait
// for another lane (a spin lock), every other turn goes to some other group, whatever its place.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>

#include "simulator/engine/block.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Instructions of a turn: of a group that works, and at least of one that spins, which gets fewer
/// each time.
inline constexpr std::int32_t longest_turn = 2048;
inline constexpr std::int32_t shortest_turn = 64;

/// Ends the loop before the next instruction, so that the scheduler looks at the groups anew.
inline void reschedule(Warp& warp) noexcept { warp.high = warp.pc; }

/// Lets the running group go on there.
[[gnu::always_inline]] inline void jump(Warp& warp, const Instruction* target) noexcept {
  warp.pc = target;
  if (target <= warp.low || target >= warp.high) [[unlikely]]
    warp.high = target;
}

/// Lanes that go on elsewhere, later. They join a group that stands there already.
void add_group(Warp& warp, const Instruction* pc, Frame* frame, std::uint32_t lanes);

/// Takes lanes out of the running group until the wait is over: then they go on at pc.
void park(Warp& warp, std::uint32_t lanes, const Instruction* pc, Wait wait, std::uint32_t detail);

/// Makes the running group stand in another frame.
void enter(Warp& warp, Frame* frame, const Instruction* pc) noexcept;

/// Lanes of the running group have ended: their frames are freed, and who waits for them looks
/// again.
void end_lanes(Warp& warp, std::uint32_t lanes);

/// The wait of a group of this warp is over.
void wake(Warp& warp, Group& group) noexcept;

/// Takes lanes out of the running group for a time. Lanes of a warp that sleep wake together, with
/// the first.
void sleep(Warp& warp, std::uint32_t lanes, std::chrono::nanoseconds time);

/// Wakes those of a block whose time has come.
void wake_sleepers(ResidentBlock& block) noexcept;

/// Whether some group can run.
[[nodiscard]] bool can_run(const Warp& warp) noexcept;

/// Makes the group that goes first the running one; false where all wait.
bool schedule(Warp& warp) noexcept;

/// At the end of a turn: lets another group have the next one.
void rotate(Warp& warp) noexcept;

/// Whether the running group is in a short loop that only looks at memory, waiting for a change.
[[nodiscard]] bool only_looks(const Warp& warp) noexcept;

/// How a turn ended.
enum class TurnEnd : std::uint8_t {
  blocked,  ///< all lanes wait, or have ended
  expired,
  yielded,  ///< gave way before
};

/// Sees every instruction before it runs. This one sees nothing, and costs nothing; a variant of
/// the loop (counts, coverage, race detection) is another class with the same function.
struct NoObserver {
  [[gnu::always_inline]] void before(const Warp&, const Instruction&) noexcept {}
};

/// Counts what threads run of the PTX, what their guards hold back included. What the decoder adds
/// to a PTX instruction does not count.
struct InstructionCounter {
  std::uint64_t thread_instructions = 0;
  [[gnu::always_inline]] void before(const Warp& warp, const Instruction& instruction) noexcept {
    const Instruction* const first = warp.frame->function->code.data();
    if (&instruction != first && (&instruction)[-1].where == instruction.where) return;
    thread_instructions += static_cast<unsigned>(std::popcount(warp.active));
  }
};

/// Runs a warp that can run for one turn.
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
