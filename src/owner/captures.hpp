// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "owner/graph_box.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::owner {

[[nodiscard]] bool asks_for_capture(const driver::DriverApi& api, CUstream stream);

/// How many captures have begun here and not ended: while there are none, launches needn't ask.
inline constinit std::atomic<int> captures{0};

[[nodiscard]] inline bool any_capture() noexcept {
  return captures.load(std::memory_order_relaxed) != 0;
}

/// Whether any stream may be in a capture: one has begun here and not ended, or other code has had
/// the handle of a stream. If not, nobody needs to ask the driver.
[[nodiscard]] inline bool may_be_capturing() noexcept {
  return any_capture() || captures_possible.load(std::memory_order_relaxed);
}

/// Whether anybody's capture includes the stream.
/// @throw Error
[[nodiscard]] inline bool is_captured_by_anyone(const driver::DriverApi& api, CUstream stream) {
  return may_be_capturing() && asks_for_capture(api, stream);
}

/// Whether a capture that began here, or an invalid one, includes the stream.
/// @throw Error
[[nodiscard]] inline bool is_captured_here(const driver::DriverApi& api, CUstream stream) {
  if (!any_capture()) [[likely]]
    return false;
  return asks_for_capture(api, stream);
}

/// Notes into which graph a capture goes (its id is the driver's), and that it has ended.
/// @throw std::bad_alloc
void note_capture(cuuint64_t id, const std::shared_ptr<GraphBox>& graph);
void forget_capture(cuuint64_t id) noexcept;

/// If the stream is being captured, makes the graph keep what a launch uses.
/// @throw Error, std::bad_alloc
void keep_in_capture(const driver::DriverApi& api, CUstream stream, std::shared_ptr<Kept> kept);

}  // namespace cudacore::owner
