// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cudacore/caching_memory_resource.hpp"
#include "runtime/block_list.hpp"

namespace cudacore {

/// The memory behind a CachingMemoryResource.
///
/// One lock guards everything, and is never held during a call of the driver or of the upstream, so
/// it may be taken with the GIL. A block that is neither in use nor in a list is being moved by a
/// thread that waits for something; nobody else touches it. Its files: what needs no driver
/// (caching_pool.cpp), what finds memory when no block fits (caching_pool_miss.cpp), what becomes
/// of the blocks of each stream (caching_pool_streams.cpp), and what gives memory back to the
/// upstream (caching_pool_release.cpp).
class CachingPool final : public owner::StreamFollower,
                          public std::enable_shared_from_this<CachingPool> {
 public:
  CachingPool(std::shared_ptr<MemoryResource> upstream, std::size_t max_size);

  /// A block of at least `size` bytes that the stream may use at once; null if that needs a closer
  /// look. The result is in use, and has a number.
  [[nodiscard]] Block* try_allocate(const owner::StreamBox& stream, std::size_t size) noexcept;
  /// The same, by all means.
  [[nodiscard]] Block& allocate(const Stream& stream, std::size_t requested);
  /// Takes a block back that has this number, ordered on a stream, if that needs no driver call.
  [[nodiscard]] bool try_deallocate(Block& block, std::uint64_t number,
                                    const owner::StreamBox& stream) noexcept;
  /// The same, by all means. Does nothing if the block does not have this number any more.
  void deallocate(Block& block, std::uint64_t number,
                  const std::shared_ptr<owner::StreamBox>& stream);
  /// The same for a block whose work is not known: it is used again once all work is done.
  void deallocate_unordered(Block& block, std::uint64_t number);
  /// Refuses to take memory back on a stream that others own and that is being captured: it may be
  /// destroyed before the pool can ask what its work has reached.
  /// @throw NotSupportedError
  static void refuse_foreign_capture(const owner::StreamBox& stream);
  /// The block in use at an address, and its number; null if there is none.
  [[nodiscard]] std::pair<Block*, std::uint64_t> find(CUdeviceptr pointer);

  void stream_ends(const std::shared_ptr<owner::StreamBox>& stream) noexcept override;

  /// Gives free segments back to the upstream, until at most `keep` bytes are reserved.
  void trim(std::size_t keep);
  void close();
  /// Gives back what can be given back without a wait, ordered on the streams that may use it.
  void release_whole_segments();
  [[nodiscard]] bool is_closed() const noexcept {
    return is_closed_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t max_size() const noexcept { return max_size_; }
  [[nodiscard]] CachingStatistics statistics() const;
  void reset_peaks();
  [[nodiscard]] std::vector<CachedSegment> snapshot() const;

 private:
  using Lists = std::unordered_map<std::uint64_t, std::unique_ptr<BlockList>>;
  class Pins;
  enum class Others { done, waited_for };

  // With the lock:
  [[nodiscard]] BlockList* known_list(std::uint64_t key) noexcept;
  [[nodiscard]] bool is_of_before_reset() const noexcept {
    return made_after_ != error::resets.load(std::memory_order_relaxed);
  }
  /// Cuts a block to what is wanted of it. The rest goes to a list, unless it is too small.
  void split(Block& block, BlockList& rest_to, BlockSize wanted) noexcept;
  /// Gives a block that has left its list to a buffer, and splits off what is not wanted of it.
  Block& hand_out(Block& block, BlockList& rest_to, BlockSize wanted, std::size_t requested,
                  CUstream stream) noexcept;
  Block* allocate_from(BlockList& list, BlockSize wanted, std::size_t requested,
                       CUstream stream) noexcept;
  void insert_free(Block& block, BlockList& list) noexcept;
  /// Moves the blocks that were put there by then: the later ones have work of their own.
  void move_blocks(BlockList& from, BlockList& to, std::uint64_t inserts) noexcept;
  [[nodiscard]] Block* new_block() noexcept;
  void recycle_nodes(Block*& merged) noexcept;
  /// Takes a free segment of one block out of the pool.
  [[nodiscard]] Buffer remove_segment(Block& whole) noexcept;
  template <typename Visit>
  void for_each_list(const Visit& visit) const {
    for (const auto& [key, list] : lists_) visit(*list);
    for (const auto& list : ended_) visit(*list);
  }
  /// Those that are not needed any more; they must be destroyed without the lock.
  [[nodiscard]] std::vector<std::unique_ptr<BlockList>> take_empty_lists();

  // Without it:
  void renew_after_reset();
  /// Puts a block where it stays until the capture of its stream is over and the stream's work is
  /// done.
  void insert_behind_capture(Block& block, std::uint64_t number,
                             const std::shared_ptr<owner::StreamBox>& stream);
  /// The list of a stream, made if need be. It stays until its `moving` is counted down.
  [[nodiscard]] BlockList& list_of(const std::shared_ptr<owner::StreamBox>& stream);
  void record_if_needed(BlockList& list, const std::shared_ptr<owner::StreamBox>& stream);
  /// Frees the blocks behind events that have been reached.
  void settle();
  /// The same, if many streams have ended since.
  void settle_ended() noexcept;
  /// Frees every block that was put back by now, except those whose work can't be waited for while
  /// a stream is captured.
  void wait_for_free_blocks();
  [[nodiscard]] Block* allocate_cached(const Stream& stream, BlockSize wanted,
                                       std::size_t requested);
  [[nodiscard]] Block* allocate_from_others(const Stream& stream, BlockSize wanted,
                                            std::size_t requested, Others which);
  [[nodiscard]] Block* allocate_from_other(const Stream& stream, BlockList& list, Block& block,
                                           BlockSize wanted, std::size_t requested, Others which);
  /// Null if the upstream has no memory, or the limit is reached; `why` then says so.
  [[nodiscard]] Block* allocate_from_upstream(const Stream& stream, BlockSize wanted,
                                              std::size_t requested, std::string& why);
  /// `emptied` is from when the size was added to what is reserved.
  Block& add_segment(Buffer memory, std::size_t size, const Stream& stream, BlockSize wanted,
                     std::size_t requested, unsigned emptied);
  void release_idle(std::size_t keep);
  [[noreturn]] void throw_out_of_memory(std::size_t requested, const std::string& why);

  const std::shared_ptr<MemoryResource> upstream_;
  const std::size_t max_size_;
  std::atomic<bool> is_closed_{false};

  mutable std::mutex mutex_;  ///< guards the rest
  unsigned made_after_ = error::resets.load(std::memory_order_relaxed);
  unsigned emptied_ = 0;  ///< how many resets have taken all memory
  std::map<CUdeviceptr, Segment> segments_;
  std::deque<Block> blocks_;  ///< every node; they never move
  Block* unused_ = nullptr;   ///< nodes
  Lists lists_;
  BlockList* last_ = nullptr;  ///< the list that was asked for last
  std::vector<std::unique_ptr<BlockList>> ended_;
  std::size_t settle_at_ = 32;  ///< how many ended streams to collect before looking at them
  BlockList idle_;              ///< blocks that no work uses
  BlockList unordered_;         ///< blocks whose work is not known: free once their context is
  std::uint64_t last_number_ = 0;
  CachingStatistics statistics_;
};

}  // namespace cudacore
