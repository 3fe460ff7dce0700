// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

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

/// Orders what has no work to wait for, and never belongs to a capture, for which the legacy stream
/// may wait.
Stream quiet_stream(const std::shared_ptr<error::ContextBox>& context) {
  try {
    return Stream(Context(context), StreamOptions{.nonblocking = true});
  } catch (const ContextLostError&) {  // the memory is gone, too
    return Stream(owner::legacy_stream(context));
  }
}

/// Returns memory to the upstream. If one fails, the others are released in the same order.
void release_all(std::vector<Buffer>& segments, const Stream& stream) {
  if (error::is_forgotten(*stream.box()->context)) return;
  for (const Buffer& segment : segments) segment.set_deallocation_stream(stream);
  for (Buffer& segment : segments) segment.close();
}

}  // namespace

void CachingPool::release_idle(std::size_t keep) {
  for (;;) {
    // Everything that may fail comes before a segment leaves the pool.
    std::shared_ptr<error::ContextBox> context;
    const auto visit_idle = [&](const auto& visit) {
      for (auto place = segments_.begin(); place != segments_.end();) {
        const Segment& segment = (place++)->second;
        Block* whole = whole_free(segment);
        if (statistics_.reserved_bytes <= keep) return;
        if (whole == nullptr || whole->list != &idle_) continue;
        visit(*whole, segment.memory.box()->stream->context);
      }
    };
    {
      const std::scoped_lock lock(mutex_);
      visit_idle([&](Block& /*whole*/, const auto& of) {
        if (context == nullptr) context = of;
      });
    }
    if (context == nullptr) return;
    const Stream stream = quiet_stream(context);
    std::vector<Buffer> segments;
    {
      const std::scoped_lock lock(mutex_);
      segments.reserve(segments_.size());
      visit_idle([&](Block& whole, const auto& of) {
        if (of == context) segments.push_back(remove_segment(whole));
      });
    }
    release_all(segments, stream);
  }
}

void CachingPool::trim(std::size_t keep) {
  renew_after_reset();
  settle();
  release_idle(keep);
  {
    const std::scoped_lock lock(mutex_);
    if (statistics_.reserved_bytes <= keep) return;
  }
  wait_for_free_blocks();
  release_idle(keep);
}

void CachingPool::close() {
  if (is_closed_.exchange(true)) return;
  renew_after_reset();
  release_whole_segments();
}

void CachingPool::release_whole_segments() {
  settle();
  release_idle(0);
  Pins lists(*this, [](const BlockList& /*list*/) { return true; });
  for (Pins::Pinned& pinned : lists) {
    const Order& order = pinned.order;
    if (!order.is_known() || order.is_captured()) continue;
    const auto visit_whole = [&](const auto& visit) {
      for (auto place = segments_.begin(); place != segments_.end();) {
        Block* whole = whole_free((place++)->second);
        if (whole != nullptr && whole->list == pinned.list && whole->insertion <= pinned.inserts) {
          visit(*whole);
        }
      }
    };
    bool has_any = false;
    {
      const std::scoped_lock lock(mutex_);
      visit_whole([&has_any](const Block& /*whole*/) { has_any = true; });
    }
    if (!has_any) continue;
    const Stream stream =
        order.stream != nullptr ? Stream(order.stream) : quiet_stream(pinned.list->context);
    if (order.stream == nullptr) stream.wait(*order.event);
    std::vector<Buffer> segments;
    {
      const std::scoped_lock lock(mutex_);
      segments.reserve(segments_.size());
      visit_whole([&](Block& whole) { segments.push_back(remove_segment(whole)); });
    }
    release_all(segments, stream);
  }
}

}  // namespace cudacore
