// SPDX-License-Identifier: Apache-2.0
//
// The one address space of the process, which host and simulated devices share (unified
// addressing).
//
// Every live allocation stands in it. A pointer of a device is an address that the host can't read:
// the bytes lie in a second mapping of the same memory, at Allocation::host. Host memory that the
// driver gave out (pinned, managed, registered) has host == address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "simulator/memory/allocation_table.hpp"

namespace cudacore::simulator {

/// All live allocations. Any thread may call anything; finding one is O(log n).
class AddressSpace {
 public:
  /// The one of this process.
  static AddressSpace& instance() noexcept;

  /// Files an allocation that overlaps no other, and gives it an id.
  std::uint64_t insert(Allocation allocation);
  /// Takes the allocation that begins at the address out. Nothing where none does.
  std::optional<Allocation> erase(std::uint64_t address);
  /// The allocation that holds the byte at the address.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  /// The live allocation with the highest address below this one: what a miss was next to.
  [[nodiscard]] std::optional<Allocation> nearest_below(std::uint64_t address) const;
  /// The one with the lowest address above it.
  [[nodiscard]] std::optional<Allocation> nearest_above(std::uint64_t address) const;
  /// The allocation that held the byte, of those erased of late; the youngest of several.
  [[nodiscard]] std::optional<Allocation> erased(std::uint64_t address) const;
  /// Changes whenever one is erased: what was found before may be gone.
  [[nodiscard]] static std::uint64_t generation() noexcept {
    return generation_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t count() const;

 private:
  mutable std::shared_mutex mutex_;
  AllocationTable allocations_;
  static std::atomic<std::uint64_t> generation_;
  std::uint64_t next_id_ = 1;
  std::vector<Allocation> erased_;  ///< a ring: for messages
  std::size_t next_erased_ = 0;
};

}  // namespace cudacore::simulator
