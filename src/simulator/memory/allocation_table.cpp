// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory/allocation_table.hpp"

#include <algorithm>
#include <utility>

namespace cudacore::simulator {
namespace {

/// The number of elements that are less than or equal to a value.
std::size_t count_to(const std::vector<std::uint64_t>& sorted, std::uint64_t value) noexcept {
  return static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), value) -
                                  sorted.begin());
}

template <class T>
auto nth(std::vector<T>& values, std::size_t index) noexcept {
  return values.begin() + static_cast<std::ptrdiff_t>(index);
}

}  // namespace

std::size_t AllocationTable::chunk_of(std::uint64_t address) const noexcept {
  const std::size_t count = count_to(firsts_, address);
  return count == 0 ? 0 : count - 1;
}

void AllocationTable::add_chunk(std::size_t index, std::uint64_t first) {
  Chunk chunk;
  chunk.begins.reserve(chunk_size);
  chunk.allocations.reserve(chunk_size);
  // Nothing may throw after the first change.
  if (firsts_.size() == firsts_.capacity()) firsts_.reserve(2 * firsts_.size() + 1);
  chunks_.insert(nth(chunks_, index), std::move(chunk));
  firsts_.insert(nth(firsts_, index), first);
}

void AllocationTable::split(std::size_t index) {
  constexpr std::size_t half = chunk_size / 2;
  add_chunk(index + 1, chunks_[index].begins[half]);
  Chunk& low = chunks_[index];
  Chunk& high = chunks_[index + 1];
  high.begins.assign(nth(low.begins, half), low.begins.end());
  high.allocations.assign(nth(low.allocations, half), low.allocations.end());
  low.begins.resize(half);
  low.allocations.resize(half);
}

void AllocationTable::insert(const Allocation& allocation) {
  const std::uint64_t address = allocation.address;
  if (chunks_.empty()) add_chunk(0, address);
  std::size_t index = chunk_of(address);
  std::size_t place = count_to(chunks_[index].begins, address);
  if (place != 0 && chunks_[index].begins[place - 1] == address) {
    chunks_[index].allocations[place - 1] = allocation;
    return;
  }
  if (chunks_[index].begins.size() == chunk_size) {
    split(index);
    index = chunk_of(address);
    place = count_to(chunks_[index].begins, address);
  }
  Chunk& chunk = chunks_[index];
  chunk.begins.insert(nth(chunk.begins, place), address);
  chunk.allocations.insert(nth(chunk.allocations, place), allocation);
  firsts_[index] = chunk.begins.front();
  ++size_;
}

void AllocationTable::erase(std::uint64_t address) noexcept {
  if (at(address) == nullptr) return;
  const std::size_t index = chunk_of(address);
  Chunk& chunk = chunks_[index];
  const std::size_t place = count_to(chunk.begins, address) - 1;
  chunk.begins.erase(nth(chunk.begins, place));
  chunk.allocations.erase(nth(chunk.allocations, place));
  --size_;
  if (chunk.begins.empty()) {
    chunks_.erase(nth(chunks_, index));
    firsts_.erase(nth(firsts_, index));
    return;
  }
  firsts_[index] = chunk.begins.front();
  if (index + 1 == chunks_.size()) return;
  Chunk& next = chunks_[index + 1];
  if (chunk.begins.size() + next.begins.size() > chunk_size / 2) return;
  chunk.begins.insert(chunk.begins.end(), next.begins.begin(), next.begins.end());
  chunk.allocations.insert(chunk.allocations.end(), next.allocations.begin(),
                           next.allocations.end());
  chunks_.erase(nth(chunks_, index + 1));
  firsts_.erase(nth(firsts_, index + 1));
}

const Allocation* AllocationTable::at(std::uint64_t address) const noexcept {
  const Allocation* const found = at_or_below(address);
  return found != nullptr && found->address == address ? found : nullptr;
}

const Allocation* AllocationTable::at_or_below(std::uint64_t address) const noexcept {
  if (chunks_.empty()) return nullptr;
  const Chunk& chunk = chunks_[chunk_of(address)];
  const std::size_t count = count_to(chunk.begins, address);
  return count == 0 ? nullptr : &chunk.allocations[count - 1];
}

const Allocation* AllocationTable::above(std::uint64_t address) const noexcept {
  if (chunks_.empty()) return nullptr;
  const std::size_t index = chunk_of(address);
  const Chunk& chunk = chunks_[index];
  const std::size_t count = count_to(chunk.begins, address);
  if (count < chunk.allocations.size()) return &chunk.allocations[count];
  return index + 1 < chunks_.size() ? &chunks_[index + 1].allocations.front() : nullptr;
}

}  // namespace cudacore::simulator
