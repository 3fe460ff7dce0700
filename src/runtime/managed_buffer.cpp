// SPDX-License-Identifier: Apache-2.0
#include "cudacore/managed_buffer.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/driver_location.hpp"

namespace cudacore {

CUmemLocation to_driver(const MemoryLocation& location) {
  switch (location.kind) {
    case MemoryLocation::Kind::device:
      return {CU_MEM_LOCATION_TYPE_DEVICE, {Device(location.id).id()}};
    case MemoryLocation::Kind::host_numa:
      if (location.id < 0) {
        throw std::invalid_argument("a NUMA node has a number from 0 on, not " +
                                    std::to_string(location.id));
      }
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA, {location.id}};
    case MemoryLocation::Kind::host_numa_current:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, {0}};
    case MemoryLocation::Kind::host:
      break;
  }
  return {CU_MEM_LOCATION_TYPE_HOST, {0}};
}

std::optional<MemoryLocation> from_driver(CUmemLocationType type, int id) noexcept {
  switch (type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return MemoryLocation::device(id);
    case CU_MEM_LOCATION_TYPE_HOST:
      return MemoryLocation::host();
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return MemoryLocation::host_numa(id);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return MemoryLocation::host_numa_current();
    default:
      return std::nullopt;
  }
}

namespace {

constexpr int first_advice = 12020;
constexpr int first_managed_batch = 13000;

std::string describe_range(const owner::BufferBox& box) {
  return "managed memory of " + error::format_bytes(box.size) + " at " +
         error::format_address(box.pointer);
}

/// "NUMA node 3 of the host"
std::string describe_place(const MemoryLocation& location) {
  switch (location.kind) {
    case MemoryLocation::Kind::device:
      return error::describe_device(location.id);
    case MemoryLocation::Kind::host_numa:
      return "NUMA node " + std::to_string(location.id) + " of the host, which must exist";
    case MemoryLocation::Kind::host_numa_current:
      return "the current NUMA node of the host";
    case MemoryLocation::Kind::host:
      break;
  }
  return "the host";
}

/// The box of a buffer with managed memory.
const owner::BufferBox& managed(const ManagedBuffer& buffer) {
  const owner::BufferBox& box = require_open(buffer.box(), "ManagedBuffer");
  box.throw_if_stale();
  if (box.size == 0) {
    throw std::invalid_argument("this ManagedBuffer is empty: there is no memory to advise on");
  }
  if (!buffer.is_managed()) {
    throw std::invalid_argument("the memory at " + error::format_address(box.pointer) +
                                " is not managed: ManagedMemoryResource allocates such memory");
  }
  return box;
}

[[noreturn]] void throw_no_advice(const owner::BufferBox& box, int device) {
  int has_access = 1;
  static_cast<void>(driver::api().cuDeviceGetAttribute(
      &has_access, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device));
  const std::string why =
      has_access == 0 ? "the property concurrent_managed_access of " +
                            error::describe_device(device) + " is false"
                      : "a driver may take no advice on memory of a pool, as ManagedMemoryResource "
                        "allocates; it takes advice on memory of cuMemAllocManaged, with "
                        "ManagedBuffer.from_handle";
  throw NotSupportedError(
      "cuMemAdvise failed on " + describe_range(box) + ": CUDA_ERROR_NOT_SUPPORTED (801): " + why,
      CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "cuMemAdvise");
}

void advise(const ManagedBuffer& buffer, CUmem_advise advice, const CUmemLocation& location) {
  const owner::BufferBox& box = managed(buffer);
  const ContextCall call(error::current_context());
  if (call.api().cuMemAdvise == nullptr) driver::throw_missing_symbol("cuMemAdvise", first_advice);
  const CUresult result = call.api().cuMemAdvise(box.pointer, box.size, advice, location);
  if (result == CUDA_ERROR_NOT_SUPPORTED) throw_no_advice(box, call.context()->device);
  call.check(result, "cuMemAdvise", [&] { return describe_range(box); });
}

/// Reads attributes of 32 bits each.
template <std::size_t count>
std::array<int, count> read_range(const ManagedBuffer& buffer,
                                  std::array<CUmem_range_attribute, count> wanted) {
  const owner::BufferBox& box = managed(buffer);
  const ContextCall call(error::current_context());
  std::array<int, count> values{};
  std::array<void*, count> places{};
  std::array<std::size_t, count> sizes{};
  for (std::size_t i = 0; i < count; ++i) places[i] = &values[i];
  sizes.fill(sizeof(int));
  call.check(call.api().cuMemRangeGetAttributes(places.data(), sizes.data(), wanted.data(), count,
                                                box.pointer, box.size),
             "cuMemRangeGetAttributes", [&] { return describe_range(box); });
  return values;
}

std::optional<MemoryLocation> read_location(const ManagedBuffer& buffer, CUmem_range_attribute type,
                                            CUmem_range_attribute id) {
  const auto [kind, number] = read_range<2>(buffer, {type, id});
  return from_driver(static_cast<CUmemLocationType>(kind), number);
}

/// Ranges, and where they go, as the driver's batches take them.
struct ManagedBatch {
  std::vector<CUdeviceptr> pointers;
  std::vector<std::size_t> sizes;
  std::vector<CUmemLocation> locations;
  std::vector<std::size_t> location_begins;

  ManagedBatch(const char* function, std::span<const ManagedBuffer> buffers,
               std::span<const MemoryLocation> places) {
    if (buffers.empty()) {
      throw std::invalid_argument(std::string(function) + ": there are no buffers");
    }
    if (places.size() > 1 && places.size() != buffers.size()) {
      throw std::invalid_argument(std::string(function) + ": " + std::to_string(places.size()) +
                                  " locations are given for " + std::to_string(buffers.size()) +
                                  " buffers: give one for all, or one for each");
    }
    for (const ManagedBuffer& buffer : buffers) {
      const owner::BufferBox& box = managed(buffer);
      pointers.push_back(box.pointer);
      sizes.push_back(box.size);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i > 0 && places[i] == places[i - 1]) continue;
      locations.push_back(to_driver(places[i]));
      location_begins.push_back(i);
    }
  }
};

void require_location(const char* function, std::span<const MemoryLocation> locations) {
  if (!locations.empty()) return;
  throw std::invalid_argument(std::string(function) + ": there is no location");
}

/// What cuMemPrefetchBatchAsync and cuMemDiscardAndPrefetchBatchAsync have in common.
template <auto function>
void run_batch(const char* caller, const char* name, std::span<const ManagedBuffer> buffers,
               std::span<const MemoryLocation> locations, const Stream& stream) {
  require_location(caller, locations);
  ManagedBatch batch(caller, buffers, locations);
  const StreamCall call(require_open(stream.box(), "Stream"));
  const auto run = call.api().*function;
  if (run == nullptr) driver::throw_missing_symbol(name, first_managed_batch);
  refuse(batch_refusal(caller, stream));
  call.check(
      run(batch.pointers.data(), batch.sizes.data(), batch.pointers.size(), batch.locations.data(),
          batch.location_begins.data(), batch.locations.size(), 0, call.stream()),
      name);
}

}  // namespace

bool ManagedBuffer::read_mostly() const {
  return read_range<1>(*this, {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY})[0] != 0;
}

void ManagedBuffer::set_read_mostly(bool on) const {
  // The driver checks the location, but does not use it.
  advise(*this, on ? CU_MEM_ADVISE_SET_READ_MOSTLY : CU_MEM_ADVISE_UNSET_READ_MOSTLY,
         to_driver(MemoryLocation::host()));
}

std::optional<MemoryLocation> ManagedBuffer::preferred_location() const {
  return read_location(*this, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                       CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID);
}

void ManagedBuffer::set_preferred_location(const std::optional<MemoryLocation>& location) const {
  advise(*this,
         location ? CU_MEM_ADVISE_SET_PREFERRED_LOCATION : CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
         to_driver(location.value_or(MemoryLocation::host())));
}

std::vector<MemoryLocation> ManagedBuffer::accessed_by() const {
  const owner::BufferBox& box = managed(*this);
  const ContextCall call(error::current_context());
  std::vector<int> ids(static_cast<std::size_t>(Device::count()) + 1);
  void* data = ids.data();
  std::size_t size = ids.size() * sizeof(int);
  CUmem_range_attribute attribute = CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  call.check(call.api().cuMemRangeGetAttributes(&data, &size, &attribute, 1, box.pointer, box.size),
             "cuMemRangeGetAttributes", [&] { return describe_range(box); });
  std::vector<MemoryLocation> locations;
  for (const int id : ids) {
    if (id == CU_DEVICE_INVALID) continue;
    locations.push_back(id == CU_DEVICE_CPU ? MemoryLocation::host() : MemoryLocation::device(id));
  }
  return locations;
}

void ManagedBuffer::set_accessed_by(const MemoryLocation& location, bool on) const {
  if (location.kind != MemoryLocation::Kind::device &&
      location.kind != MemoryLocation::Kind::host) {
    throw std::invalid_argument(
        "accessed_by takes a device or the host as a whole, not one of its NUMA nodes");
  }
  advise(*this, on ? CU_MEM_ADVISE_SET_ACCESSED_BY : CU_MEM_ADVISE_UNSET_ACCESSED_BY,
         to_driver(location));
}

std::optional<MemoryLocation> ManagedBuffer::last_prefetch_location() const {
  return read_location(*this, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                       CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
}

void ManagedBuffer::prefetch(const MemoryLocation& location, const Stream& stream) const {
  const owner::BufferBox& box = managed(*this);
  const CUmemLocation place = to_driver(location);
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (call.api().cuMemPrefetchAsync == nullptr) {
    driver::throw_missing_symbol("cuMemPrefetchAsync", first_advice);
  }
  refuse(capture_refusal("ManagedBuffer.prefetch", stream));
  call.check(call.api().cuMemPrefetchAsync(box.pointer, box.size, place, 0, call.stream()),
             "cuMemPrefetchAsync",
             [&] { return describe_range(box) + " to " + describe_place(location); });
}

void ManagedBuffer::discard(const Stream& stream) const { discard_batch({this, 1}, stream); }

void ManagedBuffer::discard_prefetch(const MemoryLocation& location, const Stream& stream) const {
  discard_prefetch_batch({this, 1}, {&location, 1}, stream);
}

void prefetch_batch(std::span<const ManagedBuffer> buffers,
                    std::span<const MemoryLocation> locations, const Stream& stream) {
  run_batch<&driver::DriverApi::cuMemPrefetchBatchAsync>(
      "prefetch_batch", "cuMemPrefetchBatchAsync", buffers, locations, stream);
}

void discard_batch(std::span<const ManagedBuffer> buffers, const Stream& stream) {
  ManagedBatch batch("discard_batch", buffers, {});
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (call.api().cuMemDiscardBatchAsync == nullptr) {
    driver::throw_missing_symbol("cuMemDiscardBatchAsync", first_managed_batch);
  }
  refuse(batch_refusal("discard_batch", stream));
  call.check(call.api().cuMemDiscardBatchAsync(batch.pointers.data(), batch.sizes.data(),
                                               batch.pointers.size(), 0, call.stream()),
             "cuMemDiscardBatchAsync");
}

void discard_prefetch_batch(std::span<const ManagedBuffer> buffers,
                            std::span<const MemoryLocation> locations, const Stream& stream) {
  run_batch<&driver::DriverApi::cuMemDiscardAndPrefetchBatchAsync>(
      "discard_prefetch_batch", "cuMemDiscardAndPrefetchBatchAsync", buffers, locations, stream);
}

}  // namespace cudacore
