// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"

// What nodes of graphs use. The driver shares it, by its user objects, between a graph and
// everything that is made from it: clones, parents, executable graphs, and their launches. When the
// last is gone, the driver calls back on a thread of its own, which may neither call CUDA nor wait
// for the GIL; so another thread drops what was shared.

namespace cudacore::owner {

/// What one node uses.
struct Kept : driver::NotCopied {
  std::shared_ptr<void> subject;              ///< what the node shows: its kernel, its event
  std::vector<std::shared_ptr<void>> shares;  ///< everything else
  std::function<void()> callback;             ///< of a host node
};

/// Makes `graph` keep a share of `kept` (cuGraphRetainUserObject).
/// @return what let_go() takes.
/// @throw Error, std::bad_alloc; then the graph keeps nothing.
[[nodiscard]] CUuserObject keep_in(const driver::DriverApi& api, CUgraph graph,
                                   std::shared_ptr<Kept> kept);
/// Ends what keep_in() began. Graphs that were made meanwhile still keep it. Does nothing for null.
void let_go(const driver::DriverApi& api, CUgraph graph, CUuserObject object) noexcept;

}  // namespace cudacore::owner
