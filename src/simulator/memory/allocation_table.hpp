// SPDX-License-Identifier: Apache-2.0
//
// Allocations by address: a two-level search tree of sorted arrays. In a tree of nodes, a search
// would wait for memory at each level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/memory/allocation.hpp"

namespace cudacore::simulator {

/// Not safe for several threads if one of them changes it. Pointers are valid until the next
/// change.
class AllocationTable {
 public:
  /// Replaces an allocation that begins at the same address.
  void insert(const Allocation& allocation);
  /// Removes the allocation that begins at the address.
  void erase(std::uint64_t address) noexcept;
  /// The allocation that begins at the address.
  [[nodiscard]] const Allocation* at(std::uint64_t address) const noexcept;
  /// The last allocation that begins at or below the address; nullptr if there is none.
  [[nodiscard]] const Allocation* at_or_below(std::uint64_t address) const noexcept;
  /// The first allocation that begins above the address; nullptr if there is none.
  [[nodiscard]] const Allocation* above(std::uint64_t address) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::size_t chunk_size = 128;
  /// Consecutive allocations: at least one, and at most chunk_size, for which there is room.
  struct Chunk {
    std::vector<std::uint64_t> begins;
    std::vector<Allocation> allocations;
  };

  [[nodiscard]] std::size_t chunk_of(std::uint64_t address) const noexcept;
  void add_chunk(std::size_t index, std::uint64_t first);
  void split(std::size_t index);

  std::vector<std::uint64_t> firsts_;  // the first address of each chunk
  std::vector<Chunk> chunks_;
  std::size_t size_ = 0;
};

}  // namespace cudacore::simulator
