// SPDX-License-Identifier: Apache-2.0
//
// Blocks in progress: what the scheduler stores in addition to what handlers see.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/engine/frames.hpp"
#include "simulator/engine/grid.hpp"
#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

struct ResidentCluster;

/// The scheduler's part of a warp.
struct WarpState {
  FrameArena frames;
  std::uint32_t favoured = all_lanes;  ///< lanes whose turn it is; others only catch up with them
  unsigned next_favoured = 0;          ///< lane at which the search for the next ones starts
  std::int32_t turn = 0;               ///< instructions of the next turn
  std::uint32_t cluster_arrived = 0;   ///< lanes whose barrier.cluster phase is not complete
  std::chrono::steady_clock::time_point wakes{};  ///< when its sleeping lanes continue
};

struct ResidentBlock final : Block {
  std::vector<WarpState> states;  ///< by warp
  std::uint32_t ready = 0;        ///< warps with a group that can run
  std::uint32_t idle = 0;         ///< those of them that only polled
  std::uint32_t asleep = 0;       ///< warps with a group that sleeps
  unsigned next_warp = 0;
  ResidentCluster* home = nullptr;
  AlignedBytes shared_memory;
  AlignedBytes local_memory;
};

/// Blocks that are started, run and preempted together: a cluster, or a single block.
struct ResidentCluster final : Cluster {
  std::vector<std::unique_ptr<ResidentBlock>> resident;  ///< by rank
  std::uint32_t arrived = 0;                             ///< threads at barrier.cluster
  std::weak_ptr<const Image> image;                      ///< frames hold constants of its functions
  const Function* entry = nullptr;
  Dim3 threads;                                   ///< of a block
  std::size_t bytes = 0;                          ///< of its blocks, when they were released
  std::chrono::steady_clock::time_point wakes{};  ///< when it continues, if all its warps sleep
};

[[nodiscard]] inline ResidentBlock& resident(Block& block) noexcept {
  return static_cast<ResidentBlock&>(block);
}
[[nodiscard]] inline WarpState& state_of(Warp& warp) noexcept {
  return resident(*warp.block).states[warp.index];
}

/// The initial state of some blocks of a grid: those of cluster `index`, with all threads at the
/// entry. Reuses a cluster that this host thread released, if it has the right shape.
///
/// @throws std::bad_alloc
[[nodiscard]] std::unique_ptr<ResidentCluster> make_resident(Grid& grid, std::uint64_t index,
                                                             Worker& worker);
/// Keeps blocks that have ended, for the next make_resident() on this host thread. Drops the oldest
/// ones if all those kept would exceed most_kept_bytes.
void release_resident(std::unique_ptr<ResidentCluster> cluster) noexcept;
inline constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;
/// The size in bytes of what this host thread keeps: shared and local memory, and frames.
[[nodiscard]] std::size_t kept_bytes() noexcept;

/// The size in bytes of each thread's local memory in a launch.
[[nodiscard]] std::uint32_t local_bytes_of(const LaunchRequest& request) noexcept;

}  // namespace cudacore::simulator
