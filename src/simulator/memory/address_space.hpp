// SPDX-License-Identifier: Apache-2.0
//
// The process's only address space, which the host and the simulated devices share (unified
// addressing).
//
// It contains every live allocation. A device pointer is an address that the host cannot read; the
// bytes are in a second mapping of the same memory, at Allocation::host. For host memory that the
// driver handed out (pinned, managed, registered), host == address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "simulator/memory/allocation_table.hpp"

namespace cudacore::simulator {

/// All live allocations. Any thread may call any function; a lookup is O(log n).
class AddressSpace {
 public:
  /// The process's only instance.
  static AddressSpace& instance() noexcept;

  /// Registers an allocation, which must not overlap any other, and gives it an id.
  std::uint64_t insert(Allocation allocation);
  /// Removes and returns the allocation that begins at the address; nothing if there is none.
  std::optional<Allocation> erase(std::uint64_t address);
  /// Sets who may access the mapped memory that begins at the address.
  void set_access(std::uint64_t address, std::uint64_t readers, std::uint64_t writers,
                  bool host_access);
  /// The allocation that contains the byte at the address.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  /// The live allocation with the highest address below this one, to say what a bad access was
  /// close to.
  [[nodiscard]] std::optional<Allocation> nearest_below(std::uint64_t address) const;
  /// The live allocation with the lowest address above this one.
  [[nodiscard]] std::optional<Allocation> nearest_above(std::uint64_t address) const;
  /// The recently erased allocation that contained the byte; the newest if there are several.
  [[nodiscard]] std::optional<Allocation> erased(std::uint64_t address) const;
  /// Changes whenever an allocation is erased, or access to it changes: earlier lookup results may
  /// then be invalid.
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
