// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "owner/captures.hpp"
#include "runtime/caching_pool.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"

// What finds memory when no free block of the stream fits: from what costs least to what costs
// most.

namespace cudacore {

Block& CachingPool::allocate(const Stream& stream, std::size_t requested) {
  const owner::StreamBox& box = require_open(stream.box(), "Stream");
  const StreamCall call(box);
  if (owner::is_captured(box)) refuse_allocation("a CachingMemoryResource", box);
  if (requested > ~std::size_t{0} >> 1U) throw_out_of_memory(requested, {});
  renew_after_reset();
  const BlockSize wanted = block_size(requested);
  std::string why;
  if (Block* block = allocate_cached(stream, wanted, requested)) return *block;
  settle();
  if (Block* block = allocate_cached(stream, wanted, requested)) return *block;
  if (Block* block = allocate_from_others(stream, wanted, requested, Others::done)) return *block;
  if (Block* block = allocate_from_upstream(stream, wanted, requested, why)) return *block;
  if (Block* block = allocate_from_others(stream, wanted, requested, Others::waited_for))
    return *block;
  {
    const std::scoped_lock lock(mutex_);
    ++statistics_.num_alloc_retries;
  }
  const auto frees = [this] {
    const std::scoped_lock lock(mutex_);
    return statistics_.total_count - statistics_.current_count;
  };
  for (;;) {  // while others free, which the wait may have missed
    const std::uint64_t freed = frees();
    wait_for_free_blocks();
    if (Block* block = allocate_cached(stream, wanted, requested)) return *block;
    release_idle(0);
    if (Block* block = allocate_from_upstream(stream, wanted, requested, why)) return *block;
    if (frees() == freed) throw_out_of_memory(requested, why);
  }
}

Block* CachingPool::allocate_cached(const Stream& stream, BlockSize wanted, std::size_t requested) {
  const std::shared_ptr<owner::StreamBox> ordered_on = stream_for_release(stream);
  const std::uint64_t key = stream_key(*ordered_on);
  const bool is_per_thread = owner::is_per_thread_stream(stream.box()->stream);
  const CUstream handle = stream.box()->stream;
  BlockList* list = nullptr;
  Block* block = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    list = known_list(key);
    if (list != nullptr && !is_per_thread) block = allocate_from(*list, wanted, requested, handle);
    if (block == nullptr) block = allocate_from(idle_, wanted, requested, handle);
    if (block != nullptr || list == nullptr || !is_per_thread) return block;
    block = list->find(wanted);
    if (block == nullptr) return nullptr;
    list->remove(*block);
    ++list->moving;
  }
  // What per-thread streams free is ordered on the legacy stream, for which this one must wait.
  return allocate_from_other(stream, *list, *block, wanted, requested, Others::waited_for);
}

Block* CachingPool::allocate_from_others(const Stream& stream, BlockSize wanted,
                                         std::size_t requested, Others which) {
  std::vector<const BlockList*> tried;
  for (;;) {
    tried.push_back(nullptr);
    BlockList* list = nullptr;
    Block* block = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      for_each_list([&](BlockList& other) {
        if (block != nullptr || std::ranges::find(tried, &other) != tried.end()) return;
        block = other.find(wanted);
        list = &other;
      });
      if (block == nullptr) return nullptr;
      list->remove(*block);
      ++list->moving;
    }
    tried.back() = list;
    if (Block* taken = allocate_from_other(stream, *list, *block, wanted, requested, which)) {
      return taken;
    }
  }
}

Block* CachingPool::allocate_from_other(const Stream& stream, BlockList& list, Block& block,
                                        BlockSize wanted, std::size_t requested, Others which) {
  Order order;  // may end the stream, so not with the lock
  {
    const std::scoped_lock lock(mutex_);
    order = list.order();
  }
  bool may_use = false;
  try {
    if (order.is_known() && !order.is_captured()) {
      may_use = which == Others::waited_for || order.is_done();
      if (which == Others::waited_for) stream.wait(order.mark());
    }
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    --list.moving;
    insert_free(block, list);
    throw;
  }
  const std::scoped_lock lock(mutex_);
  --list.moving;
  if (!may_use) {
    insert_free(block, list);
    return nullptr;
  }
  if (which == Others::waited_for) ++statistics_.num_stream_waits;
  return &hand_out(block, list, wanted, requested, stream.box()->stream);
}

Block* CachingPool::allocate_from_upstream(const Stream& stream, BlockSize wanted,
                                           std::size_t requested, std::string& why) {
  const SizeClassRules& rules = rules_of(wanted.kind);
  for (const std::size_t most : {std::max(rules.segment, wanted.bytes), wanted.bytes}) {
    std::size_t size = most;
    unsigned emptied = 0;
    {
      const std::scoped_lock lock(mutex_);
      std::uint64_t& reserved = statistics_.reserved_bytes;
      if (max_size_ != 0) {
        const std::size_t room = max_size_ - std::min<std::size_t>(max_size_, reserved);
        size = std::min(size, room / rules.unit * rules.unit);
        if (size < wanted.bytes) {
          why = "max_size is " + error::format_bytes(max_size_);
          return nullptr;
        }
      }
      reserved += size;  // now, so that other threads keep to the limit
      emptied = emptied_;
    }
    try {
      Buffer memory = upstream_->allocate(size, stream);
      if (memory.is_closed() || memory.handle() == 0 || memory.size() < size) {
        throw std::runtime_error("the upstream of a CachingMemoryResource was asked for " +
                                 error::format_bytes(size) + ", and returned a Buffer of " +
                                 error::format_bytes(memory.size()));
      }
      return &add_segment(std::move(memory), size, stream, wanted, requested, emptied);
    } catch (const std::exception& error) {
      {
        const std::scoped_lock lock(mutex_);
        if (emptied == emptied_) statistics_.reserved_bytes -= size;
      }
      if (dynamic_cast<const OutOfMemoryError*>(&error) == nullptr) throw;
      why = error.what();
      if (size == wanted.bytes) return nullptr;
    }
  }
  return nullptr;
}

Block& CachingPool::add_segment(Buffer memory, std::size_t size, const Stream& stream,
                                BlockSize wanted, std::size_t requested, unsigned emptied) {
  const CUdeviceptr pointer = memory.handle();
  // The upstream's buffer must not keep the stream alive. What gives it back names another one.
  memory.set_deallocation_stream(Stream(owner::legacy_stream(stream.box()->work_context())));
  std::map<CUdeviceptr, Segment> added;  // a refused one must be given back without the lock
  added.try_emplace(pointer, Segment{std::move(memory), wanted.kind, nullptr});
  const std::shared_ptr<owner::StreamBox> ordered_on = stream_for_release(stream);
  BlockList& list = list_of(ordered_on);
  try {
    record_if_needed(list, ordered_on);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    --list.moving;
    throw;
  }
  const std::scoped_lock lock(mutex_);
  --list.moving;
  if (segments_.contains(pointer)) {
    throw std::runtime_error("the upstream of a CachingMemoryResource returned memory at " +
                             error::format_address(pointer) + " twice");
  }
  Block* block = new_block();
  if (block == nullptr) throw std::bad_alloc();
  *block = Block{};
  block->pointer = pointer;
  block->size = size;
  block->segment = &segments_.insert(added.extract(pointer)).position->second;
  block->segment->first = block;
  ++statistics_.num_device_alloc;
  if (emptied != emptied_) statistics_.reserved_bytes += size;
  statistics_.peak_reserved_bytes =
      std::max(statistics_.peak_reserved_bytes, statistics_.reserved_bytes);
  return hand_out(*block, list, wanted, requested, stream.box()->stream);
}

void CachingPool::throw_out_of_memory(std::size_t requested, const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    ++statistics_.num_ooms;
  }
  const CachingStatistics known = statistics();
  const int device = upstream_->device_id();
  throw OutOfMemoryError(
      "a CachingMemoryResource" + (device >= 0 ? " of " + error::describe_device(device) : "") +
          " cannot allocate " + error::format_bytes(requested) + ": " +
          std::to_string(known.current_count) + " buffers have " +
          error::format_bytes(known.used_bytes) + " (" + error::format_bytes(known.current_bytes) +
          " were asked for), " + error::format_bytes(known.free_bytes) + " in " +
          std::to_string(known.num_free_blocks) + " free blocks between them cannot be used, " +
          error::format_bytes(known.reserved_bytes) + " are reserved, at most " +
          error::format_bytes(known.peak_reserved_bytes) + " so far" +
          (why.empty() ? "" : "; " + why),
      CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "CachingMemoryResource.allocate");
}

}  // namespace cudacore
