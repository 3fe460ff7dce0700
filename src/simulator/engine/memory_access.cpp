// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/memory_access.hpp"

#include <bit>
#include <optional>
#include <string>

#include "simulator/engine/memory_faults.hpp"

namespace cudacore::simulator {
namespace {

std::uint64_t number(const std::byte* host) noexcept {
  return reinterpret_cast<std::uint64_t>(host);
}

/// Whether [address, address + size) is within [begin, begin + bytes).
bool within(std::uint64_t address, std::size_t size, std::uint64_t begin,
            std::size_t bytes) noexcept {
  const std::uint64_t offset = address - begin;
  return offset <= bytes && size <= bytes - offset;
}

std::byte* local_of(const Warp& warp, unsigned lane) noexcept {
  const Block& block = *warp.block;
  return block.local + std::size_t{thread_of(warp, lane)} * block.local_stride;
}

std::byte* find_shared(const Block& block, std::uint64_t address, std::size_t size) noexcept {
  if (within(address, size, shared_begin, block.shared_bytes)) {
    return block.shared + (address - shared_begin);
  }
  const std::uint64_t rank = (address >> cluster_rank_shift) - 1;
  if (rank >= (block.cluster == nullptr ? 1 : block.cluster->blocks.size())) return nullptr;
  const Block& other = block.cluster == nullptr ? block : *block.cluster->blocks[rank];
  const std::uint64_t offset = address & ((std::uint64_t{1} << cluster_rank_shift) - 1);
  if (!within(offset, size, shared_begin, other.shared_bytes)) return nullptr;
  return other.shared + (offset - shared_begin);
}

std::byte* find_local(const Warp& warp, std::uint64_t address, std::size_t size,
                      unsigned lane) noexcept {
  if (!within(address, size, local_begin, warp.block->local_stride)) return nullptr;
  return local_of(warp, lane) + (address - local_begin);
}

/// Generic addresses that are host addresses: shared, local, parameters. Parameters are read-only.
std::byte* find_window(const Warp& warp, std::uint64_t address, std::size_t size, unsigned lane,
                       bool& writable) noexcept {
  const Block& block = *warp.block;
  writable = true;
  std::byte* const host = reinterpret_cast<std::byte*>(address);
  if (within(address, size, number(block.shared), block.shared_bytes) ||
      within(address, size, number(local_of(warp, lane)), block.local_stride)) {
    return host;
  }
  if (block.cluster != nullptr) {
    for (const Block* other : block.cluster->blocks) {
      if (within(address, size, number(other->shared), other->shared_bytes)) return host;
    }
  }
  const auto& parameters = block.grid->request().parameters;
  if (within(address, size, number(parameters.data()), parameters.size())) {
    writable = false;
    return host;
  }
  return nullptr;
}

template <class Base>
bool resolve_all(Warp& warp, const Instruction& in, Space space, const Base* bases,
                 std::uint64_t offset, std::uint32_t lanes, std::size_t size, Access access,
                 std::byte** at) noexcept {
  const bool wraps = sizeof(Base) == 4 && (space == Space::shared || space == Space::local);
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    std::uint64_t address = bases[lane] + offset;
    if (wraps) address = static_cast<std::uint32_t>(address);
    at[lane] = resolve(warp, in, space, address, size, access, lane);
    if (at[lane] == nullptr) return false;
  }
  return true;
}

/// Adds the mapped memory on both sides that this device may access in the same way.
void widen(CachedRange& range, const Allocation& middle) {
  const AddressSpace& space = AddressSpace::instance();
  const auto joins = [&](const std::optional<Allocation>& other) {
    return other && other->is_mapped && other->has_same_access(middle) &&
           number(other->host) - other->address == static_cast<std::uint64_t>(range.to_host);
  };
  for (auto next = space.find(range.end); joins(next); next = space.find(range.end)) {
    range.end = next->end();
  }
  for (auto last = space.find(range.begin - 1); joins(last); last = space.find(range.begin - 1)) {
    range.begin = last->address;
  }
}

}  // namespace

const CachedRange* find_range(const Warp& warp, const Instruction& in,
                              std::uint64_t address) noexcept {
  // Read the tag first: if an allocation is erased meanwhile, the result below is invalid.
  const std::uint64_t tag = range_tag(*warp.block);
  CachedRange& range = range_of(*warp.worker, in);
  if (range.generation == tag && within(address, 1, range.begin, range.end - range.begin)) {
    return &range;
  }
  const std::optional<Allocation> found = AddressSpace::instance().find(address);
  const LaunchRequest& request = warp.block->grid->request();
  if (!found || !found->is_readable(request.device, request.readable_devices)) return nullptr;
  range.begin = found->address;
  range.end = found->end();
  range.to_host = static_cast<std::int64_t>(number(found->host) - found->address);
  if (found->is_mapped) widen(range, *found);
  range.generation = tag;
  range.writable = found->is_writable(request.device);
  return &range;
}

std::byte* resolve(Warp& warp, const Instruction& in, Space space, std::uint64_t address,
                   std::size_t size, Access access, unsigned lane, std::size_t align) noexcept {
  if (align == 0) align = std::has_single_bit(size) && size <= 32 ? size : 1;
  const AccessPlace place{space, address, size, access, lane};
  if (address % align != 0) {
    fault_misaligned(warp, in, place, align);
    return nullptr;
  }
  std::byte* host = nullptr;
  bool writable = true;
  switch (space) {
    case Space::shared:
      host = find_shared(*warp.block, address, size);
      break;
    case Space::local:
      host = find_local(warp, address, size, lane);
      break;
    case Space::param: {
      const auto& parameters = warp.block->grid->request().parameters;
      if (within(address, size, 0, parameters.size())) {
        // Checked below: nothing writes there.
        host = const_cast<std::byte*>(parameters.data()) + address;
      }
      writable = false;
      break;
    }
    case Space::generic:
      host = find_window(warp, address, size, lane, writable);
      if (host != nullptr) break;
      [[fallthrough]];
    case Space::global:
    case Space::constant:
      if (const CachedRange* range = find_range(warp, in, address);
          range != nullptr && within(address, size, range->begin, range->end - range->begin)) {
        host = reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(range->to_host));
        writable = range->writable;
      }
      break;
  }
  if (host == nullptr) {
    fault_outside(warp, in, place);
    return nullptr;
  }
  if (!writable && access != Access::read) {
    fault_read_only(warp, in, place);
    return nullptr;
  }
  return host;
}

bool resolve_lanes(Warp& warp, const Instruction& in, Space space, const std::uint64_t* bases,
                   std::uint64_t offset, std::uint32_t lanes, std::size_t size, Access access,
                   std::byte** at) noexcept {
  return resolve_all(warp, in, space, bases, offset, lanes, size, access, at);
}

bool resolve_lanes(Warp& warp, const Instruction& in, Space space, const std::uint32_t* bases,
                   std::uint64_t offset, std::uint32_t lanes, std::size_t size, Access access,
                   std::byte** at) noexcept {
  return resolve_all(warp, in, space, bases, offset, lanes, size, access, at);
}

std::uint64_t to_generic(const Warp& warp, Space space, std::uint64_t address,
                         unsigned lane) noexcept {
  const Block& block = *warp.block;
  switch (space) {
    case Space::shared: {
      const std::uint64_t rank = (address >> cluster_rank_shift) - 1;
      if (rank < (block.cluster == nullptr ? 1 : block.cluster->blocks.size())) {
        const std::uint64_t offset = address & ((std::uint64_t{1} << cluster_rank_shift) - 1);
        const Block& other = block.cluster == nullptr ? block : *block.cluster->blocks[rank];
        return number(other.shared) - shared_begin + offset;
      }
      return number(block.shared) - shared_begin + address;
    }
    case Space::local:
      return number(local_of(warp, lane)) - local_begin + address;
    case Space::param:
      return number(block.grid->request().parameters.data()) + address;
    case Space::generic:
    case Space::global:
    case Space::constant:
      break;
  }
  return address;
}

std::uint64_t from_generic(const Warp& warp, Space space, std::uint64_t address,
                           unsigned lane) noexcept {
  const Block& block = *warp.block;
  switch (space) {
    case Space::shared: {
      const int rank = rank_of_shared(block, address);
      if (rank >= 0 && block.cluster != nullptr &&
          static_cast<std::uint32_t>(rank) != block.cluster_rank) {
        const Block& other = *block.cluster->blocks[static_cast<std::size_t>(rank)];
        const auto bits = (static_cast<std::uint64_t>(rank) + 1) << cluster_rank_shift;
        return bits | (address - number(other.shared) + shared_begin);
      }
      return address - number(block.shared) + shared_begin;
    }
    case Space::local:
      return address - number(local_of(warp, lane)) + local_begin;
    case Space::param:
      return address - number(block.grid->request().parameters.data());
    case Space::generic:
    case Space::global:
    case Space::constant:
      break;
  }
  return address;
}

int rank_of_shared(const Block& block, std::uint64_t generic_address) noexcept {
  if (within(generic_address, 1, number(block.shared), block.shared_bytes)) {
    return static_cast<int>(block.cluster_rank);
  }
  if (block.cluster != nullptr) {
    for (const Block* other : block.cluster->blocks) {
      if (within(generic_address, 1, number(other->shared), other->shared_bytes)) {
        return static_cast<int>(other->cluster_rank);
      }
    }
  }
  return -1;
}

}  // namespace cudacore::simulator
