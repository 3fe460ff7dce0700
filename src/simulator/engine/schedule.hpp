// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a grid run next.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "simulator/engine/block.hpp"
#include "simulator/engine/grid.hpp"

namespace cudacore::simulator {

/// Clusters (of one block or more) of a grid: not started, or preempted. Grid::mutex_ guards it.
struct Grid::Schedule {
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  std::uint64_t count = 0;  ///< of clusters
  std::uint64_t limit = 1;  ///< clusters that may be in progress at once
  std::list<Range> fresh;   ///< not started, in order
  std::list<std::unique_ptr<ResidentCluster>> preempted;
  std::list<std::unique_ptr<ResidentCluster>> asleep;  ///< the first to wake first
  std::uint64_t ended = 0;
  unsigned running = 0;  ///< workers that have something of this grid in hand
  bool reported = false;
  bool widens = false;  ///< blocks in progress may wait for one not started
  unsigned preemptions = 0;
  bool counts = false;     ///< thread instructions
  bool timed_out = false;  ///< it is stopped, and blocks are kept to tell where they stand
  std::chrono::steady_clock::time_point deadline{};  ///< when it will have run too long, if ever
  unsigned workers = 1;                              ///< it was submitted to
  unsigned turns = 1;                                ///< of these submissions, those left

  /// Clusters that are preempted, asleep, or in the hand of a worker.
  [[nodiscard]] std::size_t in_progress() const noexcept {
    return running + preempted.size() + asleep.size();
  }
  /// When a worker with nothing in hand has something to do. Never, where other workers are enough
  /// for what is in progress.
  [[nodiscard]] std::optional<Task::Time> next_turn() const noexcept {
    if (asleep.empty() || turns >= in_progress()) return std::nullopt;
    return asleep.front()->wakes;
  }
  /// What to say of a grid that ran too long.
  [[nodiscard]] Fault describe_timeout(const LaunchRequest& request) const;
  /// Puts a cluster that sleeps to the others.
  void put_to_sleep(std::unique_ptr<ResidentCluster> cluster);
  /// Lets those go on whose time has come.
  void wake();
};

/// How long blocks run before others get their turn.
inline constexpr std::chrono::microseconds block_quantum{1000};
/// How long a worker stays with a grid.
inline constexpr std::chrono::microseconds grid_quantum{4000};

enum class ClusterEnd : std::uint8_t {
  ended,
  preempted,  ///< the quantum is over
  idle,       ///< all that its warps do is look whether they may go on
  asleep,     ///< until ResidentCluster::wakes
  stopped,
};

/// Runs blocks for a quantum. What threads ran is added to `instructions` where that is given.
[[nodiscard]] ClusterEnd run_cluster(Grid& grid, ResidentCluster& cluster, Worker& worker,
                                     std::uint64_t* instructions);

/// Memory of 8 bytes, zeroed, that kernels on every device reach; 0 where there is none.
[[nodiscard]] std::uint64_t take_workspace();
void release_workspace(std::uint64_t address) noexcept;

}  // namespace cudacore::simulator
