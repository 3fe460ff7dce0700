// SPDX-License-Identifier: Apache-2.0
#include "runtime/block_maker.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "error/describe.hpp"

namespace cudacore {
namespace {

[[noreturn]] void throw_too_large(std::size_t size) {
  throw std::overflow_error("VirtualMemoryResource: a buffer can't have " + std::to_string(size) +
                            " bytes");
}

}  // namespace

BlockMaker::BlockMaker(const VirtualMemoryResourceOptions& options, Device device)
    : options_(options),
      device_(device),
      call_(error::primary_context(device.id())),
      properties_(allocation_properties(options, device)),
      access_(access_entries(options, device)) {
  const bool least = options.granularity == VirtualGranularity::minimum;
  check(call_.api().cuMemGetAllocationGranularity(
            &granularity_, &properties_,
            least ? CU_MEM_ALLOC_GRANULARITY_MINIMUM : CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "cuMemGetAllocationGranularity", 0);
}

std::shared_ptr<owner::VirtualBlock> BlockMaker::make(std::size_t size) const {
  const std::size_t whole = rounded(size);
  auto block = std::make_shared<owner::VirtualBlock>();
  block->mappings.reserve(1);
  const auto memory = create(whole);
  map(*block, reserve(whole, options_.addr_hint.value_or(0)), memory);
  allow(block->address(), whole);
  return block;
}

std::shared_ptr<owner::VirtualBlock> BlockMaker::grow(const owner::VirtualBlock& block,
                                                      std::size_t more) const {
  more = rounded(more);
  const std::shared_ptr<owner::PhysicalBox> memory = create(more);
  auto grown = std::make_shared<owner::VirtualBlock>();
  grown->is_imported = block.is_imported;
  grown->mappings.reserve(block.mappings.size() + 1);
  if (const auto behind = reserve_behind(*block.mappings.back(), more)) {
    for (const auto& mapping : block.mappings) grown->mappings.push_back(mapping);
    map(*grown, behind, memory);
    allow(grown->mappings.back()->address, more);
    return grown;
  }
  const std::size_t size = block.size() + more;
  const std::shared_ptr<owner::RangeBox> range = reserve(2 * size, 0);
  for (const auto& mapping : block.mappings) map(*grown, range, mapping->memory);
  map(*grown, range, memory);
  allow(grown->address(), size);
  return grown;
}

std::shared_ptr<owner::VirtualBlock> BlockMaker::import_shared(
    const std::vector<MemoryShare>& parts) const {
  auto block = std::make_shared<owner::VirtualBlock>();
  block->is_imported = true;
  block->mappings.reserve(parts.size());
  std::vector<std::shared_ptr<owner::PhysicalBox>> memories;
  std::size_t size = 0;
  for (const MemoryShare& part : parts) {
    const bool is_whole = part.size != 0 && part.size % granularity_ == 0;
    if (!is_whole || part.size > std::numeric_limits<std::size_t>::max() / 2 - size) {
      throw std::invalid_argument("a descriptor of shared memory says it has " +
                                  std::to_string(part.size) +
                                  " bytes: damaged, or for another kind of device");
    }
    size += part.size;
    auto memory = std::make_shared<owner::PhysicalBox>();
    check(call_.api().cuMemImportFromShareableHandle(
              &memory->handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(part.descriptor)),
              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          "cuMemImportFromShareableHandle", part.size);
    memory->size = part.size;
    require_same_place(*memory);
    memories.push_back(std::move(memory));
  }
  if (parts.empty()) throw std::invalid_argument("a descriptor of shared memory has no memory");
  const auto range = reserve(size, 0);
  for (const auto& memory : memories) map(*block, range, memory);
  allow(block->address(), size);
  return block;
}

/// @throw std::invalid_argument for memory of another device, or of the host instead of a device.
void BlockMaker::require_same_place(const owner::PhysicalBox& memory) const {
  CUmemAllocationProp found{};
  check(call_.api().cuMemGetAllocationPropertiesFromHandle(&found, memory.handle),
        "cuMemGetAllocationPropertiesFromHandle", memory.size);
  const auto device_of = [](const CUmemLocation& location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1;
  };
  const int theirs = device_of(found.location);
  const int ours = device_of(properties_.location);
  if (theirs == ours) return;
  const auto place = [](int id) {
    return id < 0 ? std::string("the host") : error::describe_device(id);
  };
  throw std::invalid_argument("a descriptor of shared memory is of memory of " + place(theirs) +
                              ", but the resource is of " + place(ours));
}

void BlockMaker::change_access(const owner::VirtualBlock& block) const {
  for (std::size_t i = 0; i < block.mappings.size(); ++i) {
    const owner::MappingBox& mapping = *block.mappings[i];
    const CUresult result = set_access(mapping, mapping.access, access_);
    if (result == CUDA_SUCCESS) continue;
    for (std::size_t changed = 0; changed <= i; ++changed) {
      const owner::MappingBox& undone = *block.mappings[changed];
      static_cast<void>(set_access(undone, access_, undone.access));
    }
    check(result, "cuMemSetAccess", mapping.memory->size);
  }
}

CUresult BlockMaker::set_access(const owner::MappingBox& mapping,
                                const std::vector<CUmemAccessDesc>& before,
                                const std::vector<CUmemAccessDesc>& after) const {
  const std::vector<CUmemAccessDesc> entries = access_changes(before, after);
  if (entries.empty()) return CUDA_SUCCESS;
  return call_.api().cuMemSetAccess(mapping.address, mapping.memory->size, entries.data(),
                                    entries.size());
}

std::shared_ptr<owner::PhysicalBox> BlockMaker::create(std::size_t size) const {
  auto memory = std::make_shared<owner::PhysicalBox>();
  check(call_.api().cuMemCreate(&memory->handle, size, &properties_, 0), "cuMemCreate", size);
  memory->size = size;
  return memory;
}

std::shared_ptr<owner::RangeBox> BlockMaker::reserve(std::size_t size, std::size_t hint) const {
  auto range = std::make_shared<owner::RangeBox>();
  check(call_.api().cuMemAddressReserve(&range->address, size,
                                        options_.addr_align.value_or(granularity_), hint, 0),
        "cuMemAddressReserve", size);
  range->size = size;
  return range;
}

/// Addresses that follow a mapping; null if others have them.
std::shared_ptr<owner::RangeBox> BlockMaker::reserve_behind(const owner::MappingBox& last,
                                                            std::size_t size) const {
  const std::shared_ptr<owner::RangeBox>& own = last.range;
  const std::size_t used = last.end() - own->address;
  if (own->used == used && own->size - used >= size) return own;
  if (used != own->size) return nullptr;
  auto range = std::make_shared<owner::RangeBox>();
  const CUresult result =
      call_.api().cuMemAddressReserve(&range->address, size, granularity_, last.end(), 0);
  range->size = size;
  return result == CUDA_SUCCESS && range->address == last.end() ? range : nullptr;
}

/// Maps memory behind what is mapped in the range, and adds it to a block that has room for it.
void BlockMaker::map(owner::VirtualBlock& block, const std::shared_ptr<owner::RangeBox>& range,
                     const std::shared_ptr<owner::PhysicalBox>& memory) const {
  auto mapping = std::make_shared<owner::MappingBox>();
  mapping->range = range;
  mapping->memory = memory;
  const CUdeviceptr address = range->address + range->used;
  check(call_.api().cuMemMap(address, memory->size, 0, memory->handle, 0), "cuMemMap",
        memory->size);
  mapping->address = address;
  mapping->access = access_;
  range->used += memory->size;
  block.mappings.push_back(std::move(mapping));
}

void BlockMaker::allow(CUdeviceptr address, std::size_t size) const {
  if (access_.empty()) return;
  check(call_.api().cuMemSetAccess(address, size, access_.data(), access_.size()), "cuMemSetAccess",
        size);
}

std::size_t BlockMaker::rounded(std::size_t size) const {
  if (size > std::numeric_limits<std::size_t>::max() - granularity_) throw_too_large(size);
  return (size + granularity_ - 1) / granularity_ * granularity_;
}

void BlockMaker::check(CUresult result, const char* function, std::size_t size) const {
  call_.check(result, function, [&] {
    const std::string place =
        is_on_device(options_) ? error::describe_device(device_.id()) : "host memory";
    return size == 0 ? place : place + ", " + error::format_bytes(size);
  });
}

std::vector<MemoryShare> share_block(const owner::VirtualBlock& block) {
  std::vector<MemoryShare> parts;
  parts.reserve(block.mappings.size());
  try {
    for (const auto& mapping : block.mappings) {
      MemoryShare part{-1, mapping->memory->size};
      error::check(
          driver::api().cuMemExportToShareableHandle(&part.descriptor, mapping->memory->handle,
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "cuMemExportToShareableHandle", [&] { return error::format_bytes(part.size); });
      parts.push_back(part);
    }
  } catch (...) {
    for (const MemoryShare& part : parts) ::close(part.descriptor);
    throw;
  }
  return parts;
}

}  // namespace cudacore
