// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "owner/texture_boxes.hpp"

namespace cudacore {

/// Notes that the work which was queued last on a stream uses something. A graph that the stream is
/// captured into keeps that instead.
void note_use(owner::UsedByWork& used, const owner::StreamBox& stream) noexcept;

/// Waits until nothing uses what the last share of `box` is about to end.
/// @throw InterruptedError, after which a background thread drops the share; LaunchError if the
/// wait is the first to notice a fault.
void wait_for_uses(std::shared_ptr<void> last, owner::UsedByWork& used);

/// What the end of a box ends; null for a level of a mipmapped array that has other shares, and for
/// what somebody else ends.
inline owner::UsedByWork* ended_with(owner::UsedByWork& box) noexcept {
  return box.owner == nullptr ? &box : nullptr;
}
inline owner::UsedByWork* ended_with(owner::ArrayBox& array) noexcept {
  const bool is_shared = array.mipmap != nullptr && array.mipmap.use_count() != 1;
  return is_shared || array.used().owner != nullptr ? nullptr : &array.used();
}

/// Drops a share of a box that queued work may use. The last share is dropped after that work. Here
/// the wait can be interrupted; in the box's destructor it cannot.
/// @throw as wait_for_uses()
template <typename Box>
void close_after_work(std::shared_ptr<Box>& box) {
  std::shared_ptr<Box> last = std::move(box);
  if (last == nullptr || last.use_count() != 1) return;
  if (owner::UsedByWork* used = ended_with(*last)) wait_for_uses(std::move(last), *used);
}

}  // namespace cudacore
