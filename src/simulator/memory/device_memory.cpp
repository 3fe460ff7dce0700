// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory/device_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include <sys/mman.h>

#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t granule = 256;
constexpr std::size_t largest_page = std::size_t{64} << 10;  ///< of any host
constexpr std::size_t huge_page = std::size_t{2} << 20;
/// Pieces of at least this size are aligned to 512 bytes, as on a GPU.
constexpr std::size_t large_piece = std::size_t{1} << 20;
/// Pieces of at least this size return their pages to the host.
constexpr std::size_t page_release = std::size_t{4} << 20;
constexpr std::size_t quarantine_bytes = std::size_t{64} << 20;
constexpr std::size_t quarantine_pieces = 1024;

std::byte* at(std::uint64_t address) noexcept { return reinterpret_cast<std::byte*>(address); }

std::uint64_t address_of(const std::byte* address) noexcept {
  return reinterpret_cast<std::uint64_t>(address);
}

}  // namespace

DeviceMemory::DeviceMemory(int device, std::size_t capacity)
    : device_(device),
      capacity_(round_up(std::max<std::size_t>(capacity, granule), granule)),
      span_(round_up(2 * capacity_, huge_page) + huge_page) {
  if (capacity > (std::size_t{1} << 44)) {
    throw std::system_error(ENOMEM, std::generic_category(), "memory of a simulated device");
  }
  // One reservation for both halves. Each begins at a huge page, so that both have the same
  // alignment.
  reserved_ = 2 * span_ + huge_page;
  void* mapping =
      mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory of a simulated device");
  }
  reservation_ = static_cast<std::byte*>(mapping);
  addresses_ = at(round_up(address_of(reservation_), huge_page));
  bytes_ = addresses_ + span_;
  void* bytes = mmap(bytes_, span_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (bytes == MAP_FAILED) {
    const int error = errno;
    munmap(reservation_, reserved_);
    throw std::system_error(error, std::generic_category(), "memory of a simulated device");
  }
  // Kernels access memory with large strides, so page tables for small pages would not fit into the
  // caches. If this fails, the pages stay small, which is slower.
  static_cast<void>(madvise(bytes_, span_, MADV_HUGEPAGE));
  add_free(address_of(addresses_), span_);
}

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, size] : used_) AddressSpace::instance().erase(address);
  munmap(reservation_, reserved_);
}

std::optional<Allocation> DeviceMemory::allocate(std::size_t size, std::size_t align,
                                                 bool read_only, const void* heap) {
  if (size == 0 || size > capacity_) return std::nullopt;
  const std::size_t rounded = round_up(size, granule);
  const std::size_t least = size >= large_piece ? 2 * granule : granule;
  const std::lock_guard lock(mutex_);
  if (rounded > capacity_ - in_use_) return std::nullopt;
  std::optional<std::uint64_t> address = take(rounded + granule, std::max(align, least));
  while (!address && !quarantine_.empty()) {
    release_oldest();
    address = take(rounded + granule, std::max(align, least));
  }
  if (!address) return std::nullopt;
  used_.emplace(*address, rounded);
  in_use_ += rounded;
  Allocation allocation;
  allocation.address = *address;
  allocation.size = size;
  allocation.host = bytes_ + (*address - address_of(addresses_));
  allocation.device = device_;
  allocation.kind = MemoryKind::device;
  allocation.read_only = read_only;
  allocation.heap = heap;
  allocation.id = AddressSpace::instance().insert(allocation);
  return allocation;
}

bool DeviceMemory::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  const std::size_t size = found->second;
  AddressSpace::instance().erase(address);
  quarantine_.push_back({address, size});
  quarantined_ += size;
  used_.erase(found);
  in_use_ -= size;
  while (quarantined_ > quarantine_bytes || quarantine_.size() > quarantine_pieces) {
    release_oldest();
  }
  return true;
}

bool DeviceMemory::charge(std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (size > capacity_ - in_use_) return false;
  in_use_ += size;
  return true;
}

void DeviceMemory::discharge(std::size_t size) noexcept {
  const std::lock_guard lock(mutex_);
  in_use_ -= size;
}

std::size_t DeviceMemory::available() const {
  const std::lock_guard lock(mutex_);
  return capacity_ - in_use_;
}

bool DeviceMemory::contains(std::uint64_t address) const noexcept {
  return address - address_of(addresses_) < span_;
}

void DeviceMemory::release_oldest() {
  const Quarantined oldest = quarantine_.front();
  quarantine_.pop_front();
  quarantined_ -= oldest.size;
  release(oldest.address, oldest.size + granule);
}

void DeviceMemory::release(std::uint64_t address, std::size_t size) {
  if (size >= page_release) {
    // If this fails, we keep the pages, which does no harm.
    std::byte* first = bytes_ + (round_up(address, largest_page) - address_of(addresses_));
    std::byte* last =
        bytes_ + ((address + size) / largest_page * largest_page - address_of(addresses_));
    static_cast<void>(madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED));
  }
  const auto after = free_.lower_bound(address);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      address = before->first;
      size += before->second;
      remove_free(before);
    }
  }
  if (after != free_.end() && address + size == after->first) {
    size += after->second;
    remove_free(after);
  }
  add_free(address, size);
}

void DeviceMemory::add_free(std::uint64_t address, std::size_t size) {
  free_.emplace(address, size);
  free_by_size_.emplace(size, address);
}

void DeviceMemory::remove_free(std::map<std::uint64_t, std::size_t>::iterator piece) {
  free_by_size_.erase({piece->second, piece->first});
  free_.erase(piece);
}

std::optional<std::uint64_t> DeviceMemory::take(std::size_t size, std::size_t align) {
  const auto fit = [&](const std::pair<std::size_t, std::uint64_t>& piece) {
    return piece.first - size >= round_up(piece.second, align) - piece.second;
  };
  // The best fit. If alignment rules out the best few, take a piece that is large enough for any
  // alignment.
  auto chosen = free_by_size_.lower_bound({size, 0});
  for (int tries = 0; tries < 16 && chosen != free_by_size_.end() && !fit(*chosen); ++tries) {
    ++chosen;
  }
  if (chosen != free_by_size_.end() && !fit(*chosen)) {
    chosen = free_by_size_.lower_bound({size + align, 0});
  }
  if (chosen == free_by_size_.end()) return std::nullopt;
  const auto [piece_size, piece] = *chosen;
  const std::uint64_t address = round_up(piece, align);
  remove_free(free_.find(piece));
  if (address > piece) add_free(piece, address - piece);
  if (address + size < piece + piece_size) {
    add_free(address + size, piece + piece_size - address - size);
  }
  return address;
}

}  // namespace cudacore::simulator
