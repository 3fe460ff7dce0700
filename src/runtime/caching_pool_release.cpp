// SPDX-License-Identifier: Apache-2.0
#include "cudacore/error.hpp"
#include "runtime/context_call.hpp"
#include "runtime/pinned_lists.hpp"

// What gives memory back to the upstream: whole segments, and never with the lock.

namespace cudacore {
namespace {

/// The only block of a segment, if it is free; null otherwise.
Block* whole_free(const Segment& segment) noexcept {
  Block* first = segment.first;
  return first->after == nullptr && first->list != nullptr ? first : nullptr;
}

}  // namespace

void CachingPool::give_back_idle(std::size_t keep) {
  std::vector<Buffer> segments;
  {
    const std::scoped_lock lock(mutex_);
    segments.reserve(segments_.size());
    for (auto place = segments_.begin(); place != segments_.end();) {
      Block* whole = whole_free((place++)->second);
      if (statistics_.reserved_bytes <= keep) break;
      if (whole != nullptr && whole->list == &idle_) segments.push_back(take_out(*whole));
    }
  }
  for (Buffer& segment : segments) segment.close();
}

void CachingPool::trim(std::size_t keep) {
  renew_after_reset();
  settle();
  give_back_idle(keep);
  {
    const std::scoped_lock lock(mutex_);
    if (statistics_.reserved_bytes <= keep) return;
  }
  wait_for_free_blocks();
  give_back_idle(keep);
}

void CachingPool::close() {
  if (is_closed_.exchange(true)) return;
  renew_after_reset();
  release_whole_segments();
}

void CachingPool::release_whole_segments() {
  settle();
  give_back_idle(0);
  Pins lists(*this, [](const BlockList& /*list*/) { return true; });
  for (Pins::Pinned& pinned : lists) {
    const Order& order = pinned.order;
    if (!order.is_known() || order.is_captured()) continue;
    std::vector<Buffer> segments;
    {
      const std::scoped_lock lock(mutex_);
      segments.reserve(segments_.size());
      for (auto place = segments_.begin(); place != segments_.end();) {
        Block* whole = whole_free((place++)->second);
        if (whole != nullptr && whole->list == pinned.list && whole->put <= pinned.puts) {
          segments.push_back(take_out(*whole));
        }
      }
    }
    for (Buffer& segment : segments) {
      if (order.stream == nullptr) Stream(segment.box()->stream).wait(*order.event);
      segment.close(order.stream != nullptr ? std::optional(Stream(order.stream)) : std::nullopt);
    }
  }
}

}  // namespace cudacore
