// SPDX-License-Identifier: Apache-2.0
#include "runtime/stand_in_memory.hpp"

#include <algorithm>

#include "error/describe.hpp"
#include "runtime/context_call.hpp"
#include "runtime/virtual_memory_options.hpp"

namespace cudacore {
namespace {

/// In front of the memory and behind it, for pointers that go a little too far.
constexpr std::size_t margin = std::size_t{64} << 10U;
/// How often the memory behind the addresses repeats at most.
constexpr std::size_t most_mappings = 256;

}  // namespace

StandInMemory::StandInMemory(Device device, std::size_t size, std::size_t offset) {
  VirtualMemoryResourceOptions options;
  options.handle_type = VirtualHandle::none;
  check_virtual_options(options, device);
  const CUmemAllocationProp properties = allocation_properties(options, device);
  const ContextCall call(error::primary_context(device.id()));
  const auto check = [&](CUresult result, const char* function) {
    call.check(result, function, [&] {
      return error::describe_device(device.id()) + ", to stand in for " + error::format_bytes(size);
    });
  };
  std::size_t granularity = 0;
  check(call.api().cuMemGetAllocationGranularity(&granularity, &properties,
                                                 CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "cuMemGetAllocationGranularity");
  const std::size_t wanted = size + 2 * margin + alignment;
  const std::size_t pieces = (wanted + granularity - 1) / granularity;
  const std::size_t piece = (pieces + most_mappings - 1) / most_mappings * granularity;
  const std::size_t count = (wanted + piece - 1) / piece;

  auto memory = std::make_shared<owner::PhysicalBox>();
  check(call.api().cuMemCreate(&memory->handle, piece, &properties, 0), "cuMemCreate");
  memory->size = piece;
  auto range = std::make_shared<owner::RangeBox>();
  check(call.api().cuMemAddressReserve(&range->address, count * piece, granularity, 0, 0),
        "cuMemAddressReserve");
  range->size = count * piece;
  block_.mappings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto mapping = std::make_shared<owner::MappingBox>();
    mapping->range = range;
    mapping->memory = memory;
    const CUdeviceptr address = range->address + i * piece;
    check(call.api().cuMemMap(address, piece, 0, memory->handle, 0), "cuMemMap");
    mapping->address = address;
    range->used += piece;
    block_.mappings.push_back(std::move(mapping));
  }
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  check(call.api().cuMemSetAccess(range->address, range->size, &access, 1), "cuMemSetAccess");
  address_ = range->address + margin + offset;
}

}  // namespace cudacore
