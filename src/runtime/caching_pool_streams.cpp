// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cudacore/error.hpp"
#include "error/context_box.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"
#include "runtime/pinned_lists.hpp"

// What becomes of the free blocks of each stream: while it lives, when it ends, and when its work
// is done.

namespace cudacore {

void CachingPool::refuse_foreign_capture(const owner::StreamBox& stream) {
  if (stream.owned || owner::is_default_stream(stream.stream) || !owner::is_captured(stream)) {
    return;
  }
  throw NotSupportedError(
      owner::describe_stream(stream) +
      " is being captured, and belongs to other code: memory of a CachingMemoryResource that is "
      "freed on it is not used again until the context is idle; free it after the capture, or on "
      "another stream");
}

BlockList& CachingPool::list_of(const std::shared_ptr<owner::StreamBox>& stream) {
  const std::uint64_t key = stream_key(*stream);
  auto made = std::make_unique<BlockList>();
  made->key = key;
  made->stream = stream->stream;
  made->context = stream->work_context();
  if (owner::is_default_stream(stream->stream)) made->lasting = stream;
  BlockList* list = nullptr;
  bool is_followed = !stream->owned;
  {
    const std::scoped_lock lock(mutex_);
    const auto [place, is_new] = lists_.try_emplace(key);
    if (is_new) place->second = std::move(made);
    list = place->second.get();
    ++list->moving;
    is_followed = is_followed || !list->ending.expired();
  }
  if (is_followed) return *list;
  try {
    stream->add_follower(weak_from_this());
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    --list->moving;
    throw;
  }
  std::optional<Event> earlier;  // of another owner's use; it doesn't cover what comes now
  const std::scoped_lock lock(mutex_);
  list->ending = stream;
  list->event.swap(earlier);
  return *list;
}

void CachingPool::record_if_needed(BlockList& list,
                                   const std::shared_ptr<owner::StreamBox>& stream) {
  std::optional<Event> event;
  {
    const std::scoped_lock lock(mutex_);
    if (list.records_late()) return;
    event = list.event;
  }
  if (!event) {
    event = Event(make_event(stream->work_context(), EventOptions{}, true));
    const std::scoped_lock lock(mutex_);
    if (list.records_late()) return;  // by now
    // One for all threads: what is recorded last covers every free before it.
    if (!list.event) list.event = event;
    event = list.event;
  }
  Stream(stream).record(*event);
}

void CachingPool::stream_ends(const std::shared_ptr<owner::StreamBox>& stream) noexcept {
  settle_ended();
  std::optional<Event> event;
  std::unique_ptr<BlockList> gone;
  try {
    if (!owner::is_captured(*stream)) event = Stream(stream).record(EventOptions{});
  } catch (const std::exception&) {  // only the context can be waited for
  }
  const std::scoped_lock lock(mutex_);
  const auto place = lists_.find(stream->key.load(std::memory_order_relaxed));
  if (place == lists_.end()) return;
  BlockList& list = *place->second;
  if (last_ == &list) last_ = nullptr;
  if (list.blocks == 0 && list.moving == 0) {
    gone = std::move(place->second);
    lists_.erase(place);
    return;
  }
  list.ending.reset();
  list.has_ended = true;
  list.event.swap(event);
  if (!list.event) move_blocks(list, unordered_, list.inserts);
  try {
    ended_.push_back(nullptr);
    ended_.back() = std::move(place->second);
  } catch (const std::bad_alloc&) {
    move_blocks(list, unordered_, list.inserts);
    if (list.moving != 0) return;  // it comes back there, and is seldom found
    gone = std::move(place->second);
  }
  lists_.erase(place);
}

void CachingPool::insert_behind_capture(Block& block, std::uint64_t number,
                                        const std::shared_ptr<owner::StreamBox>& stream) {
  auto made = std::make_unique<BlockList>();
  made->stream = stream->stream;
  made->context = stream->work_context();
  made->lasting = stream;
  const std::scoped_lock lock(mutex_);
  if (block.number != number) return;
  const auto is_there = [&](const auto& list) {
    return list->is_behind_capture() && owner::is_same_stream(*list->lasting, *stream);
  };
  auto place = std::ranges::find_if(ended_, is_there);
  if (place == ended_.end()) {
    ended_.push_back(std::move(made));
    place = std::prev(ended_.end());
  }
  insert_free(block, **place);
}

void CachingPool::settle() {
  std::vector<std::unique_ptr<BlockList>> empty;  // destroyed without the lock
  {
    Pins waiting(*this, [](const BlockList& list) {
      return list.is_behind_capture() || (!list.records_late() && list.event);
    });
    std::optional<owner::OutsideCaptures> outside;
    if (!waiting.is_empty()) outside.emplace(driver::api());
    for (Pins::Pinned& pinned : waiting) {
      if (!pinned.order.is_captured()) pinned.is_done = pinned.order.is_done();
    }
    const std::scoped_lock lock(mutex_);
    for (const Pins::Pinned& pinned : waiting) {
      if (pinned.is_done) move_blocks(*pinned.list, idle_, pinned.inserts);
    }
  }
  const std::scoped_lock lock(mutex_);
  empty = take_empty_lists();
}

void CachingPool::settle_ended() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (ended_.size() < settle_at_) return;
  }
  try {
    settle();
  } catch (const std::exception&) {  // a fault, which the next call throws
  }
  const std::scoped_lock lock(mutex_);
  settle_at_ = std::max<std::size_t>(32, 2 * ended_.size());
}

void CachingPool::wait_for_free_blocks() {
  std::uint64_t unordered = 0;
  std::vector<std::unique_ptr<BlockList>> empty;  // destroyed without the lock
  {
    Pins waiting(*this, [](const BlockList& /*list*/) { return true; });
    {
      const std::scoped_lock lock(mutex_);
      unordered = unordered_.blocks != 0 ? unordered_.inserts : 0;
    }
    for (Pins::Pinned& pinned : waiting) {
      if (pinned.order.is_captured()) continue;
      pinned.is_done = true;
      if (pinned.order.is_known()) {
        pinned.order.mark().sync();
      } else {
        pinned.is_done = sync_outside_captures(pinned.list->context);
      }
    }
    if (unordered != 0) {
      const auto is_done = [](const auto& context) { return sync_outside_captures(context); };
      if (!std::ranges::all_of(error::known_contexts(), is_done)) unordered = 0;
    }
    const std::scoped_lock lock(mutex_);
    for (const Pins::Pinned& pinned : waiting) {
      if (pinned.is_done) move_blocks(*pinned.list, idle_, pinned.inserts);
    }
    move_blocks(unordered_, idle_, unordered);
  }
  const std::scoped_lock lock(mutex_);
  empty = take_empty_lists();
}

void CachingPool::renew_after_reset() {
  // Destroyed without the lock.
  std::map<CUdeviceptr, Segment> lost;
  Lists lists;
  std::vector<std::unique_ptr<BlockList>> ended;
  const bool are_lost = upstream_->ends_with_reset();
  const std::scoped_lock lock(mutex_);
  if (!is_of_before_reset()) return;
  made_after_ = error::resets.load(std::memory_order_relaxed);
  for_each_list([this](BlockList& list) { move_blocks(list, idle_, list.inserts); });
  move_blocks(unordered_, idle_, unordered_.inserts);
  last_ = nullptr;
  lists.swap(lists_);
  ended.swap(ended_);
  if (!are_lost) return;  // no work is left that could use what is free
  ++emptied_;
  while (Block* block = idle_.any()) idle_.remove(*block);
  for (auto& [pointer, segment] : segments_) {
    for (Block* block = segment.first; block != nullptr;) {
      Block* next = block->after;
      block->number = 0;
      block->next = nullptr;
      recycle_nodes(block);
      block = next;
    }
  }
  lost.swap(segments_);
  statistics_.current_bytes = 0;
  statistics_.current_count = 0;
  statistics_.used_bytes = 0;
  statistics_.reserved_bytes = 0;
}

}  // namespace cudacore
