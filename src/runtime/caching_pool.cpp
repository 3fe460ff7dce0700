// SPDX-License-Identifier: Apache-2.0
#include "runtime/caching_pool.hpp"

#include <algorithm>
#include <stdexcept>

#include "driver/process.hpp"
#include "error/describe.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

/// The key of a stream; 0 if only the driver knows it.
std::uint64_t key_at_hand(const owner::StreamBox& stream) {
  const std::uint64_t key = stream.key.load(std::memory_order_relaxed);
  const bool is_of_context = stream.context != nullptr && owner::is_legacy_stream(stream.stream);
  return key == 0 && is_of_context ? stream_key(stream) : key;
}

}  // namespace

CachingPool::CachingPool(std::shared_ptr<MemoryResource> upstream, std::size_t max_size)
    : upstream_(std::move(upstream)), max_size_(max_size) {}

Block* CachingPool::try_allocate(const owner::StreamBox& stream, std::size_t size) noexcept {
  const std::uint64_t key = key_at_hand(stream);
  if (key == 0 || size == 0 || stream.context == nullptr ||
      stream.context->lost.load(std::memory_order_relaxed) || is_closed() ||
      driver::is_forked_child()) {
    return nullptr;
  }
  if (owner::may_be_capturing() && !owner::is_default_stream(stream.stream)) {
    try {
      if (owner::is_captured(stream)) return nullptr;
    } catch (const std::exception&) {  // allocate() throws it again
      return nullptr;
    }
  }
  const std::scoped_lock lock(mutex_);
  if (is_of_before_reset() || size > (~std::size_t{0} >> 1U)) return nullptr;
  const BlockSize wanted = block_size(size);
  BlockList* list = known_list(key);
  Block* block = list != nullptr ? allocate_from(*list, wanted, size, stream.stream) : nullptr;
  return block != nullptr ? block : allocate_from(idle_, wanted, size, stream.stream);
}

bool CachingPool::try_deallocate(Block& block, std::uint64_t number,
                                 const owner::StreamBox& stream) noexcept {
  const std::uint64_t key = stream.key.load(std::memory_order_relaxed);
  if (key == 0 || is_closed()) return false;
  const std::scoped_lock lock(mutex_);
  BlockList* list = known_list(key);
  if (list == nullptr || !list->records_late() || block.number != number || is_of_before_reset()) {
    return false;
  }
  insert_free(block, *list);
  return true;
}

void CachingPool::deallocate(Block& block, std::uint64_t number,
                             const std::shared_ptr<owner::StreamBox>& stream) {
  renew_after_reset();
  BlockList* list = nullptr;
  const auto put_there = [&](BlockList& chosen) {
    const std::scoped_lock lock(mutex_);
    if (list != nullptr) --list->moving;
    if (block.number == number) insert_free(block, chosen);
  };
  try {
    // To ask for its number would end the capture.
    if (owner::is_captured(*stream)) {
      refuse_foreign_capture(*stream);
      insert_behind_capture(block, number, stream);
      return;
    }
    list = &list_of(stream);
    record_if_needed(*list, stream);
  } catch (...) {  // the memory must not be lost, nor be used too early
    put_there(unordered_);
    throw;
  }
  put_there(*list);
  if (is_closed()) release_whole_segments();
}

void CachingPool::deallocate_unordered(Block& block, std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  if (!is_of_before_reset() && block.number == number) insert_free(block, unordered_);
}

std::pair<Block*, std::uint64_t> CachingPool::find(CUdeviceptr pointer) {
  const std::scoped_lock lock(mutex_);
  auto place = segments_.upper_bound(pointer);
  if (place == segments_.begin()) return {nullptr, 0};
  for (Block* block = std::prev(place)->second.first; block != nullptr; block = block->after) {
    if (block->pointer == pointer && block->number != 0) return {block, block->number};
  }
  return {nullptr, 0};
}

BlockList* CachingPool::known_list(std::uint64_t key) noexcept {
  if (last_ != nullptr && last_->key == key) return last_;
  const auto place = lists_.find(key);
  if (place == lists_.end()) return nullptr;
  last_ = place->second.get();
  return last_;
}

Block* CachingPool::new_block() noexcept {
  if (unused_ != nullptr) return std::exchange(unused_, unused_->next);
  try {
    return &blocks_.emplace_back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void CachingPool::recycle_nodes(Block*& merged) noexcept {
  while (merged != nullptr) {
    Block* next = merged->next;
    merged->list = nullptr;
    merged->next = unused_;
    unused_ = merged;
    merged = next;
  }
}

void CachingPool::split(Block& block, BlockList& rest_to, BlockSize wanted) noexcept {
  const std::size_t rest = block.size - wanted.bytes;
  if (rest < rules_of(wanted.kind).least) return;
  Block* part = new_block();
  if (part == nullptr) return;  // the buffer gets the rest, too
  part->pointer = block.pointer + wanted.bytes;
  part->size = rest;
  part->segment = block.segment;
  part->before = &block;
  part->after = block.after;
  if (part->after != nullptr) part->after->before = part;
  part->number = 0;
  block.after = part;
  block.size = wanted.bytes;
  Block* merged = nullptr;
  rest_to.insert(*part, merged);
  recycle_nodes(merged);
}

Block& CachingPool::hand_out(Block& block, BlockList& rest_to, BlockSize wanted,
                             std::size_t requested, CUstream stream) noexcept {
  split(block, rest_to, wanted);
  block.number = ++last_number_;
  block.requested = requested;
  block.stream = stream;
  CachingStatistics& known = statistics_;
  known.current_bytes += requested;
  known.total_bytes += requested;
  known.used_bytes += block.size;
  ++known.current_count;
  ++known.total_count;
  known.peak_bytes = std::max(known.peak_bytes, known.current_bytes);
  known.peak_count = std::max(known.peak_count, known.current_count);
  return block;
}

Block* CachingPool::allocate_from(BlockList& list, BlockSize wanted, std::size_t requested,
                                  CUstream stream) noexcept {
  Block* block = list.find(wanted);
  if (block == nullptr) return nullptr;
  list.remove(*block);
  return &hand_out(*block, list, wanted, requested, stream);
}

void CachingPool::insert_free(Block& block, BlockList& list) noexcept {
  if (block.number != 0) {
    --statistics_.current_count;
    statistics_.current_bytes -= block.requested;
    statistics_.used_bytes -= block.size;
    block.number = 0;
    block.requested = 0;
  }
  Block* merged = nullptr;
  list.insert(block, merged);
  recycle_nodes(merged);
}

void CachingPool::move_blocks(BlockList& from, BlockList& to, std::uint64_t inserts) noexcept {
  Block* later = nullptr;
  while (Block* block = from.any()) {
    from.remove(*block);
    if (block->insertion <= inserts) {
      insert_free(*block, to);
    } else {
      block->next = later;
      later = block;
    }
  }
  while (later != nullptr) {
    Block* next = later->next;
    insert_free(*later, from);
    later = next;
  }
}

Buffer CachingPool::remove_segment(Block& whole) noexcept {
  const auto place = segments_.find(whole.pointer);
  whole.list->remove(whole);
  Buffer memory = std::move(place->second.memory);
  statistics_.reserved_bytes -= whole.size;
  ++statistics_.num_device_free;
  segments_.erase(place);
  Block* node = &whole;
  node->next = nullptr;
  recycle_nodes(node);
  return memory;
}

std::vector<std::unique_ptr<BlockList>> CachingPool::take_empty_lists() {
  std::vector<std::unique_ptr<BlockList>> empty;
  const auto is_empty = [](const BlockList& list) { return list.blocks == 0 && list.moving == 0; };
  for (auto place = lists_.begin(); place != lists_.end();) {
    BlockList& list = *place->second;
    if (!is_empty(list) || list.records_late()) {
      ++place;
      continue;
    }
    empty.push_back(nullptr);
    empty.back() = std::move(place->second);
    if (last_ == empty.back().get()) last_ = nullptr;
    place = lists_.erase(place);
  }
  for (auto& list : ended_) {
    if (!is_empty(*list)) continue;
    empty.push_back(nullptr);
    empty.back() = std::move(list);
  }
  std::erase(ended_, nullptr);
  return empty;
}

CachingStatistics CachingPool::statistics() const {
  const std::scoped_lock lock(mutex_);
  CachingStatistics known = statistics_;
  known.free_bytes = known.reserved_bytes - known.used_bytes;
  known.num_segments = segments_.size();
  known.num_free_blocks = idle_.blocks + unordered_.blocks;
  for (const auto& [key, list] : lists_) known.num_free_blocks += list->blocks;
  for (const auto& list : ended_) known.num_free_blocks += list->blocks;
  return known;
}

void CachingPool::reset_peaks() {
  const std::scoped_lock lock(mutex_);
  statistics_.peak_bytes = statistics_.current_bytes;
  statistics_.peak_count = statistics_.current_count;
  statistics_.peak_reserved_bytes = statistics_.reserved_bytes;
}

std::vector<CachedSegment> CachingPool::snapshot() const {
  constexpr std::array names{"small", "medium", "large"};
  const std::scoped_lock lock(mutex_);
  std::vector<CachedSegment> all;
  all.reserve(segments_.size());
  for (const auto& [address, segment] : segments_) {
    CachedSegment& shown = all.emplace_back();
    shown.address = address;
    shown.segment_type = names.at(static_cast<std::size_t>(segment.kind));
    for (const Block* block = segment.first; block != nullptr; block = block->after) {
      shown.total_size += block->size;
      const bool is_used = block->number != 0;
      const BlockList* list = block->list;
      CUstream stream = nullptr;
      if (is_used) {
        stream = block->stream;
      } else if (list != nullptr && !list->has_ended && list->stream != nullptr) {
        stream = list->stream;
      }
      shown.blocks.push_back(
          {block->pointer, block->size, is_used ? block->requested : 0, is_used, stream});
    }
  }
  return all;
}

}  // namespace cudacore
