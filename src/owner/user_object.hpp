// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"

// What nodes of graphs use. The boxes of graphs keep it. A graph that other code works with keeps
// it too, by a user object of the driver, which everything shares that is made from the graph:
// clones, parents, executable graphs, and their launches. When the last is gone, the driver calls
// back on a thread of its own, which may neither call CUDA nor wait for the GIL; so another thread
// drops what was shared.
//
// Not all graphs have user objects, because each launch of one that has takes twice as long.

namespace cudacore::launching {
struct KernelBox;
}

namespace cudacore::owner {

struct EventBox;

/// What one node uses.
struct Kept : driver::NotCopied {
  std::shared_ptr<launching::KernelBox> kernel;  ///< what is launched
  std::shared_ptr<EventBox> event;               ///< what is recorded or waited for
  std::vector<std::shared_ptr<void>> shares;     ///< everything else
  std::vector<std::shared_ptr<Kept>> inner;      ///< what the nodes of a child graph use
  std::function<void()> callback;                ///< of a host node
};

/// Makes `graph` keep a share of `kept` (cuGraphRetainUserObject).
/// @throw Error, std::bad_alloc; then the graph keeps nothing.
void keep_in(const driver::DriverApi& api, CUgraph graph, std::shared_ptr<Kept> kept);

}  // namespace cudacore::owner
