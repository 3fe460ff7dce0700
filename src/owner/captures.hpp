// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "owner/end_scope.hpp"
#include "owner/graph_box.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::owner {

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

/// Asks the driver whether a stream is being captured, or, being the legacy one, waits for one that
/// is: to record or to query it would end that capture. In the stream's own context.
/// @throw Error if the driver doesn't say.
[[nodiscard]] bool asks_for_capture(const StreamBox& stream);

/// Whether anybody's capture includes the stream; see asks_for_capture().
/// @throw Error
[[nodiscard]] inline bool is_captured(const StreamBox& stream) {
  if (!may_be_capturing()) [[likely]]
    return false;
  return asks_for_capture(stream);
}

/// The same while there are captures that began here, whose streams other code needn't know.
/// @throw Error
[[nodiscard]] inline bool is_captured_by_us(const StreamBox& stream) {
  if (!any_capture()) [[likely]]
    return false;
  return asks_for_capture(stream);
}

/// What the driver says of a stream's capture.
struct CaptureInfo {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  /// What the next work runs after. The driver's own, until the next call on the stream.
  std::span<const CUgraphNode> last{};
};

/// @throw Error
[[nodiscard]] CaptureInfo capture_info(const driver::DriverApi& api, const StreamBox& stream);

/// Notes into which graph a capture goes (its id is the driver's), and that it has ended.
/// @throw std::bad_alloc
void note_capture(cuuint64_t id, const std::shared_ptr<GraphBox>& graph);
void forget_capture(cuuint64_t id) noexcept;

/// If the stream is part of a capture that began here, notes that for describe_streams().
/// @throw Error, std::bad_alloc
void note_waiting(const driver::DriverApi& api, const StreamBox& stream);
/// "; streams that have waited for it: stream 0x55d0, stream 0x55e0": those besides `first` that
/// have become part of a capture by waiting; empty if there are none.
[[nodiscard]] std::string describe_streams(GraphBox& graph, CUstream first);

/// If the stream is being captured, makes the graph keep what a launch uses.
/// @throw Error, std::bad_alloc
void keep_in_capture(const driver::DriverApi& api, const StreamBox& stream,
                     std::shared_ptr<Kept> kept);

}  // namespace cudacore::owner
