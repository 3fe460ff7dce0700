// SPDX-License-Identifier: Apache-2.0
#include "runtime/free_blocks.hpp"

#include <algorithm>

namespace cudacore {

std::size_t FreeBlocks::bin_of(std::size_t size, SizeClass kind) noexcept {
  const std::size_t units = size / rules_of(kind).unit;
  const unsigned step = step_bits(units);
  return std::min((std::size_t{step} << steps_bits) + (units >> step), bins - 1);
}

std::size_t FreeBlocks::first_filled(std::size_t start) const noexcept {
  std::size_t word = start / word_bits;
  if (word >= filled_.size()) return bins;
  std::uint64_t bits = filled_[word] & (~std::uint64_t{0} << (start % word_bits));
  while (bits == 0) {
    if (++word == filled_.size()) return bins;
    bits = filled_[word];
  }
  return word * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
}

void FreeBlocks::insert(Block& block, SizeClass kind) noexcept {
  const std::size_t bin = bin_of(block.size, kind);
  block.previous = nullptr;
  block.next = first_[bin];
  if (block.next != nullptr) block.next->previous = &block;
  first_[bin] = &block;
  filled_[bin / word_bits] |= std::uint64_t{1} << (bin % word_bits);
}

void FreeBlocks::remove(Block& block, SizeClass kind) noexcept {
  if (block.next != nullptr) block.next->previous = block.previous;
  if (block.previous != nullptr) {
    block.previous->next = block.next;
    return;
  }
  const std::size_t bin = bin_of(block.size, kind);
  first_[bin] = block.next;
  if (block.next == nullptr) {
    filled_[bin / word_bits] &= ~(std::uint64_t{1} << (bin % word_bits));
  }
}

Block* FreeBlocks::find(BlockSize wanted) const noexcept {
  // Small and medium requests are as large as the smallest block of their bin, so that its first
  // block fits; a bin of large blocks has few.
  const std::size_t own = bin_of(wanted.bytes, wanted.kind);
  Block* best = nullptr;
  for (Block* block = first_[own]; block != nullptr; block = block->next) {
    if (block->size < wanted.bytes || (best != nullptr && block->size >= best->size)) continue;
    best = block;
    if (best->size == wanted.bytes || wanted.kind != SizeClass::large) break;
  }
  if (best != nullptr) return best;
  const std::size_t next = first_filled(own + 1);
  return next != bins ? first_[next] : nullptr;
}

Block* FreeBlocks::any() const noexcept {
  const std::size_t bin = first_filled(0);
  return bin != bins ? first_[bin] : nullptr;
}

}  // namespace cudacore
