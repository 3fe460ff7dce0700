// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/virtual_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "simulator/api/entry.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t freed_most = 64;
/// Where ranges are reserved: with room behind each, so that it can grow. The bytes of each are at
/// a fixed distance, so that neighbors in one place are also neighbors in the other.
constexpr std::uint64_t first_address = std::uint64_t{0x20} << 40U;
constexpr std::uint64_t addresses = std::uint64_t{0x20} << 40U;
constexpr std::size_t room = std::size_t{4} << 30U;

std::byte* pointer_to(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(address);
}

bool is_roomy(std::uint64_t address) noexcept { return address - first_address < addresses; }

/// Pages at the address, or anywhere if it is null; null if they can't be had.
std::shared_ptr<const HostPages> take_pages(std::uint64_t address, std::size_t size,
                                            int protection) {
  void* pages = mmap(pointer_to(address), size, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  try {
    auto owner = std::make_shared<const HostPages>(static_cast<std::byte*>(pages), size);
    // The address is a hint: if it is taken, the pages are elsewhere. The thread sanitizer, which
    // has most addresses, knows no MAP_FIXED_NOREPLACE.
    return address == 0 || pages == pointer_to(address) ? owner : nullptr;
  } catch (...) {
    munmap(pages, size);
    throw;
  }
}

}  // namespace

VirtualMemory& VirtualMemory::instance() noexcept {
  static VirtualMemory& one = *std::make_unique<VirtualMemory>().release();
  return one;
}

CUresult VirtualMemory::reserve(std::uint64_t& address, std::size_t size, std::size_t align,
                                std::uint64_t hint) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (size == 0 || size % page != 0 || hint % page != 0 ||
      (align != 0 && !std::has_single_bit(align))) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the size or the address is not a multiple of the host's page, or the alignment "
                  "is not a power of two");
  }
  align = std::max(align, mapping_granule);
  constexpr std::size_t most = std::size_t{1} << 46U;
  if (size > most || align > most) {
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too few addresses are free");
  }
  const std::scoped_lock lock(mutex_);
  Reservation range;
  range.size = size;
  if (hint != 0 && hint % align == 0) take_at(hint, range);
  if (range.bytes == nullptr) {
    if (!is_roomy(next_ + size)) next_ = first_address;  // others have been freed since
    const std::uint64_t begin = round_up(next_, align);
    next_ = begin + round_up(size, mapping_granule) + std::max(size, room);
    take_at(begin, range);
  }
  if (range.bytes == nullptr) {  // more than needed: one of the addresses is aligned
    range.addresses = take_pages(0, size + align, PROT_NONE);
    range.bytes = take_pages(0, size, PROT_READ | PROT_WRITE);
  }
  if (range.addresses == nullptr || range.bytes == nullptr) {
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too few addresses are free");
  }
  address = round_up(reinterpret_cast<std::uint64_t>(range.addresses->bytes()), align);
  reservations_.emplace(address, std::move(range));
  return CUDA_SUCCESS;
}

void VirtualMemory::take_at(std::uint64_t address, Reservation& range) {
  if (!is_roomy(address) || range.size > first_address + addresses - address) return;
  const std::uint64_t bytes = address + addresses;
  std::erase_if(freed_, [&](const Reservation& old) {
    const auto begin = reinterpret_cast<std::uint64_t>(old.bytes->bytes());
    return begin < bytes + range.size && bytes < begin + old.size;
  });
  range.addresses = take_pages(address, range.size, PROT_NONE);
  if (range.addresses == nullptr) return;
  range.bytes = take_pages(bytes, range.size, PROT_READ | PROT_WRITE);
}

CUresult VirtualMemory::free(std::uint64_t address, std::size_t size) {
  Reservation oldest;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "cuMemAddressReserve did not give this range of addresses");
  }
  if (is_anything_mapped(address, size)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "memory is still mapped in the range of addresses");
  }
  freed_.push_back(std::move(found->second));
  freed_.back().addresses.reset();  // others may have them at once
  reservations_.erase(found);
  if (freed_.size() > freed_most) {
    oldest = std::move(freed_.front());
    freed_.pop_front();
  }
  return CUDA_SUCCESS;
}

VirtualMemory::Reservation* VirtualMemory::find_reservation(std::uint64_t address,
                                                            std::size_t size) {
  auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return nullptr;
  auto& [begin, range] = *std::prev(after);
  const std::uint64_t offset = address - begin;
  return offset < range.size && size <= range.size - offset ? &range : nullptr;
}

bool VirtualMemory::is_anything_mapped(std::uint64_t address, std::size_t size) const {
  const auto after = mappings_.lower_bound(address + size);
  if (after == mappings_.begin()) return false;
  const auto& [begin, mapping] = *std::prev(after);
  return begin + mapping.size > address;
}

bool VirtualMemory::is_mapped_whole(std::uint64_t address, std::size_t size) const {
  if (size == 0 || size > ~address) return false;
  const std::uint64_t end = address + size;
  for (auto mapping = mappings_.find(address); mapping != mappings_.end() && address < end;
       mapping = mappings_.find(address)) {
    address += mapping->second.size;
  }
  return address == end;
}

CUresult VirtualMemory::map(std::uint64_t address, std::size_t size,
                            std::shared_ptr<PhysicalMemory> memory) {
  if (size == 0 || size % mapping_granule != 0 || address % mapping_granule != 0) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the address or the size is not a multiple of the granularity, 2 MiB");
  }
  if (size > memory->size()) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the memory is smaller than the mapping");
  }
  auto object = std::make_shared<MemoryObject>();
  const std::scoped_lock lock(mutex_);
  const Reservation* range = find_reservation(address, size);
  if (range == nullptr) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the range of addresses is not reserved");
  }
  if (is_anything_mapped(address, size)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "something is mapped in the range of addresses");
  }
  const auto begin = std::prev(reservations_.upper_bound(address))->first;
  std::byte* const bytes = range->bytes->bytes() + (address - begin);
  Allocation& allocation = object->allocation;
  allocation.address = address;
  allocation.size = size;
  allocation.host = bytes;
  allocation.device = memory->device != nullptr ? memory->device->ordinal : -1;
  allocation.kind = memory->device != nullptr ? MemoryKind::device : MemoryKind::pinned;
  allocation.is_mapped = true;
  object->origin = Origin::mapped;
  object->device = memory->device;
  object->pages = range->bytes;
  object->flags = static_cast<unsigned>(memory->properties.requestedHandleTypes);
  const auto mapping = mappings_.try_emplace(address).first;
  mapping->second.size = size;
  mapping->second.bytes = bytes;
  if (!memory->file->map(bytes, size)) {
    mappings_.erase(mapping);
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map the memory");
  }
  mapping->second.memory = std::move(memory);
  try {
    allocation.id = AddressSpace::instance().insert(allocation);
    MemoryTable::instance().insert(object);
  } catch (...) {
    AddressSpace::instance().erase(address);
    map_nothing(bytes, size, true);
    mappings_.erase(mapping);
    throw;
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(std::uint64_t address, std::size_t size) {
  std::vector<std::shared_ptr<const void>> ended;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  if (!is_mapped_whole(address, size)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the range is not one of whole mappings");
  }
  for (const std::uint64_t end = address + size; address < end;) {
    const auto found = mappings_.find(address);
    const Mapping& mapping = found->second;
    ended.push_back(mapping.memory);
    ended.push_back(
        MemoryTable::instance().take(address, [](const MemoryObject&) { return true; }));
    AddressSpace::instance().erase(address);
    if (mapping.host_access) map_nothing(pointer_to(address), mapping.size, false);
    map_nothing(mapping.bytes, mapping.size, true);
    address += mapping.size;
    mappings_.erase(found);
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(std::uint64_t address, std::size_t size,
                                   const std::vector<CUmemAccessDesc>& entries) {
  const std::scoped_lock lock(mutex_);
  if (!is_mapped_whole(address, size)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the range is not one of whole mappings");
  }
  const std::uint64_t end = address + size;
  for (const CUmemAccessDesc& entry : entries) {
    Device* device = nullptr;
    if (const CUresult status = find_location(entry.location, device); status != CUDA_SUCCESS) {
      return status;
    }
    if (entry.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        entry.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        entry.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const bool is_of_device =
        std::any_of(mappings_.find(address), mappings_.lower_bound(end),
                    [](const auto& mapping) { return mapping.second.memory->device != nullptr; });
    if (device == nullptr && is_of_device && entry.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the host doesn't reach memory of a device");
    }
  }
  for (auto place = mappings_.find(address); place != mappings_.lower_bound(end); ++place) {
    Mapping& mapping = place->second;
    for (const CUmemAccessDesc& entry : entries) {
      Device* device = nullptr;
      static_cast<void>(find_location(entry.location, device));
      const bool reads = (entry.flags & CU_MEM_ACCESS_FLAGS_PROT_READ) != 0;
      const bool writes = entry.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      if (device == nullptr) {
        const int protection = (reads ? PROT_READ : 0) | (writes ? PROT_WRITE : 0);
        if (!mapping.host_access && reads &&
            !mapping.memory->file->map(pointer_to(place->first), mapping.size)) {
          return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map the memory");
        }
        static_cast<void>(mprotect(pointer_to(place->first), mapping.size, protection));
        mapping.host_access = reads;
        continue;
      }
      const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(device->ordinal);
      mapping.readers = reads ? mapping.readers | bit : mapping.readers & ~bit;
      mapping.writers = writes ? mapping.writers | bit : mapping.writers & ~bit;
    }
    AddressSpace::instance().set_access(place->first, mapping.readers, mapping.writers,
                                        mapping.host_access);
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::get_access(CUmemAccess_flags& flags, const CUmemLocation& location,
                                   std::uint64_t address) const {
  Device* device = nullptr;
  if (const CUresult status = find_location(location, device); status != CUDA_SUCCESS) {
    return status;
  }
  const auto live = AddressSpace::instance().find(address);
  if (!live || !live->is_mapped) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at the address");
  }
  const auto has = [&](std::uint64_t mask) {
    return device == nullptr ? live->host_access : (mask >> device->ordinal & 1) != 0;
  };
  flags = has(live->writers)   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
          : has(live->readers) ? CU_MEM_ACCESS_FLAGS_PROT_READ
                               : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::memory_at(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return nullptr;
  const auto& [begin, mapping] = *std::prev(after);
  return address - begin < mapping.size ? mapping.memory : nullptr;
}

bool VirtualMemory::contains(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto after = reservations_.upper_bound(address);
  return after != reservations_.begin() &&
         address - std::prev(after)->first < std::prev(after)->second.size;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* pointer, std::size_t size, std::size_t align,
                             CUdeviceptr hint, unsigned long long flags) {
  return driver_call([&] {
    if (pointer == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t address = 0;
    const CUresult result = VirtualMemory::instance().reserve(address, size, align, hint);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
  });
}

CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t size) {
  return driver_call([&] { return VirtualMemory::instance().free(pointer, size); });
}

CUresult cuMemMap(CUdeviceptr pointer, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return driver_call([&] {
    if (offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    auto memory = MemoryHandles::instance().find(handle);
    if (memory == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the handle is not one of live memory");
    }
    return VirtualMemory::instance().map(pointer, size, std::move(memory));
  });
}

CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t size) {
  return driver_call([&] { return VirtualMemory::instance().unmap(pointer, size); });
}

CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t size, const CUmemAccessDesc* entries,
                        std::size_t count) {
  return driver_call([&] {
    if (entries == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    return VirtualMemory::instance().set_access(pointer, size, {entries, entries + count});
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
  return driver_call([&] {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUmemAccess_flags given = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const CUresult result = VirtualMemory::instance().get_access(given, *location, pointer);
    if (result == CUDA_SUCCESS) *flags = given;
    return result;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return driver_call([&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto memory =
        VirtualMemory::instance().memory_at(reinterpret_cast<std::uintptr_t>(address));
    if (memory == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at the address");
    }
    *handle = MemoryHandles::instance().give(memory);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
