// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <vector>

#include "cudacore/event.hpp"
#include "error/context_box.hpp"
#include "runtime/known_shares.hpp"

namespace cudacore {

/// What a pool that processes share knows of its pointers.
class PoolShares {
 public:
  explicit PoolShares(bool is_of_another) noexcept : is_mapped(is_of_another) {}

  const bool is_mapped;
  /// Whether the driver has exported the pool, before which it exports none of its pointers.
  std::atomic<bool> is_exported = false;
  /// The buffers that this process has shared.
  KnownShares<owner::BufferBox> shared;

  /// A pointer that is imported: a driver takes each only once, and so frees it once.
  struct Mapping {
    ShareBytes data{};
    CUdeviceptr pointer = 0;
    std::size_t most = 0;           ///< how many bytes are there
    std::size_t users = 0;          ///< buffers
    std::vector<Event> released{};  ///< after the work of those that have ended
    unsigned made_after = error::resets.load(std::memory_order_relaxed);

    [[nodiscard]] bool is_stale() const noexcept {
      return made_after != error::resets.load(std::memory_order_relaxed);
    }
  };
  std::mutex mutex;  ///< guards everything below, during calls of the driver, too
  std::list<Mapping> mappings;
};

}  // namespace cudacore
