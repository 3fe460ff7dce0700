// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/caching_pool.hpp"

namespace cudacore {

/// Some lists of a pool, for a thread that waits for their work without the lock: they stay, with
/// their streams, until it is done.
class CachingPool::Pins : driver::NotCopied {
 public:
  struct Pinned {
    BlockList* list;
    Order order;
    std::uint64_t inserts;  ///< those that the order covers
    bool is_done = false;   ///< for the thread that waits
  };

  template <typename Choose>
  Pins(CachingPool& pool, const Choose& choose) : pool_(&pool) {
    const std::scoped_lock lock(pool.mutex_);
    pinned_.reserve(pool.lists_.size() + pool.ended_.size());
    pool.for_each_list([&](BlockList& list) {
      if (list.blocks == 0 || !choose(list)) return;
      pinned_.push_back({&list, list.order(), list.inserts});
      ++list.moving;
    });
  }
  ~Pins() {
    const std::scoped_lock lock(pool_->mutex_);
    for (const Pinned& pinned : pinned_) --pinned.list->moving;
  }

  [[nodiscard]] auto begin() noexcept { return pinned_.begin(); }
  [[nodiscard]] auto end() noexcept { return pinned_.end(); }
  [[nodiscard]] bool is_empty() const noexcept { return pinned_.empty(); }

 private:
  CachingPool* pool_;
  std::vector<Pinned> pinned_;
};

}  // namespace cudacore
