// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cudacore/stream.hpp"
#include "owner/graph_box.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {

/// Launches an executable graph, whose mutex the caller holds. If the stream is being captured,
/// returns what the graph that the launch becomes part of must keep: see keep_launched(); null
/// otherwise.
[[nodiscard]] std::shared_ptr<owner::Kept> launch_held(owner::ExecutableBox& box,
                                                       const StreamCall& call,
                                                       const Stream& stream);
/// Makes a captured graph keep what launch_held() returned. Without the mutex of the executable
/// graph: an update takes the lock of a definition first.
void keep_launched(const Stream& stream, std::shared_ptr<owner::Kept> kept);

}  // namespace cudacore
