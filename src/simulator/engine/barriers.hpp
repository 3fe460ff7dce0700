// SPDX-License-Identifier: Apache-2.0
//
// What the threads of a block, and of a cluster, wait for together.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/engine/block.hpp"
#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// If all threads have arrived at a barrier, resumes those that wait there, with the results of
/// bar.red, and resets it for reuse. Returns whether it did.
bool complete(Block& block, unsigned barrier);

/// The same for barrier.cluster.
bool complete_cluster(ResidentCluster& cluster);

/// Called when threads of a warp have ended: barriers may be complete without them.
void threads_ended(Warp& warp, std::uint32_t lanes);

/// Describes which threads wait where, for blocks in which nothing can run.
[[nodiscard]] std::string describe_waits(const ResidentCluster& cluster);

/// Describes where warps are, for at most `left` groups of lanes.
void describe_places(const ResidentCluster& cluster, unsigned& left, std::string& text);

/// Writes the result of a bar.red for the lanes of a group that waited at it.
void finish_barrier(const Group& group, const Barrier& barrier);

}  // namespace cudacore::simulator
