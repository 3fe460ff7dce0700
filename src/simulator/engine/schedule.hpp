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

/// The clusters (of one block or more) of a grid that are not started, or preempted. Guarded by
/// Grid::mutex_.
struct Grid::Schedule {
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  std::uint64_t count = 0;  ///< of clusters
  std::uint64_t limit = 1;  ///< clusters that may be in progress at once
  std::list<Range> fresh;   ///< not started, in order
  std::list<std::unique_ptr<ResidentCluster>> preempted;
  std::list<std::unique_ptr<ResidentCluster>> asleep;  ///< sorted by wake-up time, earliest first
  std::uint64_t ended = 0;
  unsigned running = 0;  ///< workers that hold something of this grid
  bool reported = false;
  bool widens = false;  ///< blocks in progress may wait for one that has not started
  unsigned preemptions = 0;
  bool counts = false;     ///< thread instructions
  bool timed_out = false;  ///< it is stopped, and blocks are kept to report where they are
  std::chrono::steady_clock::time_point deadline{};  ///< when it will have run too long, if ever
  unsigned workers = 1;                              ///< how many it was submitted to
  unsigned turns = 1;                                ///< how many of these submissions are left

  /// Clusters that are preempted, asleep, or being run by a worker.
  [[nodiscard]] std::size_t in_progress() const noexcept {
    return running + preempted.size() + asleep.size();
  }
  /// When there will be something to do for a worker that holds nothing. Never, if other workers
  /// suffice for what is in progress.
  [[nodiscard]] std::optional<Task::Time> next_turn() const noexcept {
    if (asleep.empty() || turns >= in_progress()) return std::nullopt;
    return asleep.front()->wakes;
  }
  /// The fault to report for a grid that ran too long.
  [[nodiscard]] Fault describe_timeout(const LaunchRequest& request) const;
  /// Adds a cluster to those that sleep.
  void put_to_sleep(std::unique_ptr<ResidentCluster> cluster);
  /// Resumes the clusters whose time has come.
  void wake();
};

/// How long a block runs before others get their turn.
inline constexpr std::chrono::microseconds block_quantum{1000};
/// How long a worker stays with a grid.
inline constexpr std::chrono::microseconds grid_quantum{4000};

enum class ClusterEnd : std::uint8_t {
  ended,
  preempted,  ///< the quantum is over
  idle,       ///< its warps do nothing but poll
  asleep,     ///< until ResidentCluster::wakes
  stopped,
};

/// Runs blocks for a quantum. If `instructions` is given, adds the number of executed thread
/// instructions to it.
[[nodiscard]] ClusterEnd run_cluster(Grid& grid, ResidentCluster& cluster, Worker& worker,
                                     std::uint64_t* instructions);

/// 8 bytes of zeroed memory that kernels on every device can access; 0 if there is none.
[[nodiscard]] std::uint64_t take_workspace();
void release_workspace(std::uint64_t address) noexcept;

}  // namespace cudacore::simulator
