// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory/address_space.hpp"

#include <memory>
#include <mutex>

namespace cudacore::simulator {
namespace {

constexpr std::size_t erased_kept = 1024;

}  // namespace

constinit std::atomic<std::uint64_t> AddressSpace::generation_{1};

AddressSpace& AddressSpace::instance() noexcept {
  // Never destroyed: workers and users of the driver outlive static destruction.
  static AddressSpace* const space = std::make_unique<AddressSpace>().release();
  return *space;
}

std::uint64_t AddressSpace::insert(Allocation allocation) {
  const std::unique_lock lock(mutex_);
  allocation.id = next_id_++;
  allocations_.insert(allocation);
  return allocation.id;
}

std::optional<Allocation> AddressSpace::erase(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  const Allocation* const found = allocations_.at(address);
  if (found == nullptr) return std::nullopt;
  const Allocation allocation = *found;
  // The ring is only for messages, but growing it may throw, so grow it before anything changes.
  if (erased_.size() < erased_kept) {
    erased_.push_back(allocation);
  } else {
    erased_[next_erased_] = allocation;
  }
  next_erased_ = (next_erased_ + 1) % erased_kept;
  allocations_.erase(address);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  return allocation;
}

void AddressSpace::set_access(std::uint64_t address, std::uint64_t readers, std::uint64_t writers,
                              bool host_access) {
  const std::unique_lock lock(mutex_);
  const Allocation* const found = allocations_.at(address);
  if (found == nullptr) return;
  Allocation changed = *found;
  changed.readers = readers;
  changed.writers = writers;
  changed.host_access = host_access;
  allocations_.insert(changed);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

std::optional<Allocation> AddressSpace::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* const found = allocations_.at_or_below(address);
  if (found == nullptr || address - found->address >= found->size) return std::nullopt;
  return *found;
}

std::optional<Allocation> AddressSpace::nearest_below(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* const found = address == 0 ? nullptr : allocations_.at_or_below(address - 1);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Allocation> AddressSpace::nearest_above(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* const found = allocations_.above(address);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Allocation> AddressSpace::erased(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* const below = allocations_.at_or_below(address);
  for (std::size_t age = 1; age <= erased_.size(); ++age) {
    const Allocation& candidate = erased_[(next_erased_ + erased_kept - age) % erased_kept];
    if (address - candidate.address >= candidate.size) continue;
    // The memory has been allocated again since, so this is no longer what it was.
    if (below != nullptr && below->end() > candidate.address) return std::nullopt;
    return candidate;
  }
  return std::nullopt;
}

std::size_t AddressSpace::count() const {
  const std::shared_lock lock(mutex_);
  return allocations_.size();
}

}  // namespace cudacore::simulator
