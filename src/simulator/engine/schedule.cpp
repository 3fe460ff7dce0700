// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/schedule.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "simulator/engine/barriers.hpp"
#include "simulator/engine/fault.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/warp_run.hpp"

namespace cudacore::simulator {
namespace {

using Clock = std::chrono::steady_clock;

/// How many turns pass before the clock is read again.
constexpr unsigned turns_between_looks = 32;
/// How many turns a block gets before another block of its cluster.
constexpr unsigned turns_in_cluster = 64;

/// Measures a quantum of time. The clock is not read for blocks that end at once.
class Quantum {
 public:
  /// Called after each turn; an expired turn is a long one.
  [[nodiscard]] bool over(TurnEnd end) noexcept {
    if (end == TurnEnd::blocked && ++turns_ % turns_between_looks != 0) return false;
    const Clock::time_point now = Clock::now();
    if (began_ == Clock::time_point{}) began_ = now;
    return now - began_ > block_quantum;
  }

 private:
  Clock::time_point began_{};
  unsigned turns_ = 0;
};

enum class BlockEnd : std::uint8_t { waits, turns_over, quantum_over, idle };

/// Runs warps of a block in turn until all of them wait, `turns` are used up, or other work should
/// get the worker.
template <class Observer>
BlockEnd run_block(Grid& grid, ResidentBlock& block, unsigned turns, Quantum& quantum,
                   Observer& observer) {
  block.idle = 0;
  if (block.asleep != 0) wake_sleepers(block);
  while (block.ready != 0) {
    if (turns-- == 0) return BlockEnd::turns_over;
    const std::uint32_t later = block.ready & (all_lanes << block.next_warp);
    const auto index = static_cast<unsigned>(std::countr_zero(later != 0 ? later : block.ready));
    const std::uint32_t bit = 1u << index;
    block.next_warp = (index + 1) % warp_size;
    Warp& warp = block.warps[index];
    const TurnEnd end = run_turn(warp, observer);
    if (grid.stopped()) return BlockEnd::quantum_over;
    if (end == TurnEnd::blocked) {
      block.ready &= ~bit;
      if ((block.asleep & bit) == 0) {
        block.idle = 0;  // It may have done what others poll for.
      } else {
        block.idle |= bit;
        if ((block.ready & ~block.idle) == 0) break;
      }
    } else if (end == TurnEnd::yielded || only_looks(warp)) {
      std::int32_t& turn = block.states[index].turn;
      turn = std::max(turn / 2, shortest_turn);
      block.idle |= bit;
      if ((block.ready & ~block.idle) == 0) return BlockEnd::idle;
    } else {
      std::int32_t& turn = block.states[index].turn;
      turn = std::min(turn * 2, longest_turn);
      block.idle = 0;
    }
    if (quantum.over(end)) return BlockEnd::quantum_over;
    if (block.asleep != 0) [[unlikely]]
      wake_sleepers(block);
  }
  return block.ready != 0 || block.asleep != 0 ? BlockEnd::idle : BlockEnd::waits;
}

/// When the first warp of a cluster wakes; nothing if none sleeps.
std::optional<Clock::time_point> first_to_wake(const ResidentCluster& cluster) noexcept {
  std::optional<Clock::time_point> first;
  for (const auto& block : cluster.resident) {
    for (std::uint32_t left = block->asleep; left != 0; left &= left - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(left));
      const Clock::time_point wakes = block->states[index].wakes;
      first = std::min(first.value_or(wakes), wakes);
    }
  }
  return first;
}

template <class Observer>
ClusterEnd run_blocks(Grid& grid, ResidentCluster& cluster, Observer& observer) {
  Quantum quantum;
  const bool alone = cluster.resident.size() == 1;
  while (true) {
    bool over = false;
    bool idle = true;
    for (const auto& block : cluster.resident) {
      if ((block->ready | block->asleep) == 0) continue;
      const BlockEnd end =
          run_block(grid, *block, alone ? ~0u : turns_in_cluster, quantum, observer);
      if (grid.stopped()) return ClusterEnd::stopped;
      over |= end == BlockEnd::quantum_over;
      idle &= end == BlockEnd::idle;
    }
    bool ready = false;
    bool living = false;
    for (const auto& block : cluster.resident) {
      ready |= block->ready != 0;
      living |= block->living != 0;
    }
    if (!living) return ClusterEnd::ended;
    if (!ready) {
      if (const auto wakes = first_to_wake(cluster)) {
        cluster.wakes = *wakes;
        return ClusterEnd::asleep;
      }
      grid.fail({FaultKind::deadlock, "kernel '" + demangle(grid.request().entry->name) +
                                          "': every thread waits" + describe_waits(cluster)});
      return ClusterEnd::stopped;
    }
    if (idle) return ClusterEnd::idle;
    if (over) return ClusterEnd::preempted;
  }
}

}  // namespace

void Grid::Schedule::put_to_sleep(std::unique_ptr<ResidentCluster> cluster) {
  auto place = asleep.end();
  while (place != asleep.begin() && (*std::prev(place))->wakes > cluster->wakes) --place;
  asleep.insert(place, std::move(cluster));
}

void Grid::Schedule::wake() {
  if (asleep.empty()) return;
  const Clock::time_point now = Clock::now();
  auto last = asleep.begin();
  while (last != asleep.end() && (*last)->wakes <= now) ++last;
  preempted.splice(preempted.end(), asleep, asleep.begin(), last);
}

ClusterEnd run_cluster(Grid& grid, ResidentCluster& cluster, Worker& worker,
                       std::uint64_t* instructions) {
  for (const auto& block : cluster.resident) {
    for (Warp& warp : block->warps) warp.worker = &worker;
  }
  if (instructions == nullptr) {
    NoObserver observer;
    return run_blocks(grid, cluster, observer);
  }
  InstructionCounter observer;
  const ClusterEnd end = run_blocks(grid, cluster, observer);
  *instructions += observer.thread_instructions;
  return end;
}

}  // namespace cudacore::simulator
