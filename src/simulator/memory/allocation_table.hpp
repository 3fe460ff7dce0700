// SPDX-License-Identifier: Apache-2.0
//
// Allocations by address: a search tree of two levels, of sorted arrays, as a search through a tree
// of nodes waits for memory at each of its levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/memory/allocation.hpp"

namespace cudacore::simulator {

/// Not safe for several threads of which one changes it. Pointers hold until the next change.
class AllocationTable {
 public:
  /// Takes the place of one that begins at the same address.
  void insert(const Allocation& allocation);
  /// Takes out the one that begins at the address.
  void erase(std::uint64_t address) noexcept;
  /// The one that begins at the address.
  [[nodiscard]] const Allocation* at(std::uint64_t address) const noexcept;
  /// The last that begins at the address or below; nullptr where none does.
  [[nodiscard]] const Allocation* at_or_below(std::uint64_t address) const noexcept;
  /// The first that begins above the address; nullptr where none does.
  [[nodiscard]] const Allocation* above(std::uint64_t address) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::size_t chunk_size = 128;
  /// Some that follow each other: never none, at most chunk_size, for which there is room.
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
