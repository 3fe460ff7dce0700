// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/buffer.hpp"
#include "runtime/size_class.hpp"

// The memory of a caching pool: segments, which come from its upstream, cut into blocks, which are
// in use or free.

namespace cudacore {

struct BlockList;
struct Segment;

struct Block {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
  Segment* segment = nullptr;
  Block* before = nullptr;  ///< the neighbors in the segment
  Block* after = nullptr;
  Block* previous = nullptr;  ///< those in a bin, or among the nodes that are not used
  Block* next = nullptr;
  BlockList* list = nullptr;    ///< where it is free; null while it is in use or being moved
  std::uint64_t number = 0;     ///< of the buffer that has it; 0 if none has
  std::size_t requested = 0;    ///< by that buffer, in bytes
  CUstream stream = nullptr;    ///< that it was allocated on
  std::uint64_t insertion = 0;  ///< the number of the last one into its list that it is of
};

struct Segment {
  Buffer memory;
  SizeClass kind{};
  Block* first = nullptr;
};

/// Free blocks of one class by their sizes. Finding one takes the same time however many there are.
class FreeBlocks {
 public:
  void insert(Block& block, SizeClass kind) noexcept;
  void remove(Block& block, SizeClass kind) noexcept;
  /// A block of at least this size, and little more if there is one; null if there is none.
  [[nodiscard]] Block* find(BlockSize wanted) const noexcept;
  /// Any block; null if there is none.
  [[nodiscard]] Block* any() const noexcept;

 private:
  /// The last bin has all larger ones.
  static constexpr std::size_t bins = 256;
  static constexpr std::size_t word_bits = 64;

  static std::size_t bin_of(std::size_t size, SizeClass kind) noexcept;
  /// The first bin from `start` that has blocks; `bins` if there is none.
  [[nodiscard]] std::size_t first_filled(std::size_t start) const noexcept;

  std::array<Block*, bins> first_{};
  std::array<std::uint64_t, bins / word_bits> filled_{};
};

}  // namespace cudacore
