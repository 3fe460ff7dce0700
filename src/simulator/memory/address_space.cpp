// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory/address_space.hpp"

#include <iterator>
#include <memory>
#include <mutex>

namespace cudacore::simulator {
namespace {

constexpr std::size_t erased_kept = 1024;

}  // namespace

constinit std::atomic<std::uint64_t> AddressSpace::generation_{1};

AddressSpace& AddressSpace::instance() noexcept {
  // Never destroyed: workers and the driver's users outlive static destruction.
  static AddressSpace* const space = std::make_unique<AddressSpace>().release();
  return *space;
}

std::uint64_t AddressSpace::insert(Allocation allocation) {
  const std::unique_lock lock(mutex_);
  allocation.id = next_id_++;
  allocations_.insert_or_assign(allocation.address, allocation);
  return allocation.id;
}

std::optional<Allocation> AddressSpace::erase(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return std::nullopt;
  const Allocation allocation = found->second;
  // The ring is only for messages, but to grow it may throw: before anything has changed.
  if (erased_.size() < erased_kept) {
    erased_.push_back(allocation);
  } else {
    erased_[next_erased_] = allocation;
  }
  next_erased_ = (next_erased_ + 1) % erased_kept;
  allocations_.erase(found);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  return allocation;
}

std::optional<Allocation> AddressSpace::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return std::nullopt;
  const Allocation& below = std::prev(above)->second;
  if (address - below.address >= below.size) return std::nullopt;
  return below;
}

std::optional<Allocation> AddressSpace::nearest_below(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto above = allocations_.lower_bound(address);
  if (above == allocations_.begin()) return std::nullopt;
  return std::prev(above)->second;
}

std::optional<Allocation> AddressSpace::nearest_above(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto above = allocations_.upper_bound(address);
  if (above == allocations_.end()) return std::nullopt;
  return above->second;
}

std::optional<Allocation> AddressSpace::erased(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  for (std::size_t age = 1; age <= erased_.size(); ++age) {
    const Allocation& candidate = erased_[(next_erased_ + erased_kept - age) % erased_kept];
    if (address - candidate.address < candidate.size) return candidate;
  }
  return std::nullopt;
}

std::size_t AddressSpace::count() const {
  const std::shared_lock lock(mutex_);
  return allocations_.size();
}

}  // namespace cudacore::simulator
