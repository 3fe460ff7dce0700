// SPDX-License-Identifier: Apache-2.0
//
// What threads of a block, and of a cluster, wait for together.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/engine/block.hpp"
#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Lets those go on that wait at a barrier whose threads have all arrived, with the results of
/// bar.red, and makes it ready for use again. Whether it did.
bool complete(Block& block, unsigned barrier);

/// The same for barrier.cluster.
bool complete_cluster(ResidentCluster& cluster);

/// Threads of a warp have ended: barriers may be complete without them.
void threads_ended(Warp& warp, std::uint32_t lanes);

/// Who waits where, of blocks that none of can go on.
[[nodiscard]] std::string describe_waits(const ResidentCluster& cluster);

/// Where warps stand, at most so many groups of lanes.
void describe_places(const ResidentCluster& cluster, unsigned& left, std::string& text);

/// Writes the result of a bar.red for the lanes of a group that waited at it.
void finish_barrier(const Group& group, const Barrier& barrier);

}  // namespace cudacore::simulator
