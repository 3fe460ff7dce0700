// SPDX-License-Identifier: Apache-2.0
//
// Hints for managed memory. It never moves here: hints are checked, stored, and returned by
// queries.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/stream/capture.hpp"

using namespace cudacore::simulator;

namespace {

/// The managed memory that contains a whole range; null if there is none, with the reason in the
/// log.
std::shared_ptr<MemoryObject> find_managed(CUdeviceptr pointer, std::size_t size) {
  const auto allocation = AddressSpace::instance().find(pointer);
  if (allocation && allocation->kind == MemoryKind::managed && size > 0 &&
      size <= allocation->end() - pointer) {
    return find_object(*allocation);
  }
  log_error("the range is not one of managed memory");
  return nullptr;
}

/// Makes a part begin at the address. The object's mutex must be held.
std::map<std::uint64_t, Advice>::iterator split(MemoryObject& object, std::uint64_t at) {
  auto& parts = object.advice;
  if (parts.empty()) parts[object.allocation.address] = {};
  if (at >= object.allocation.end()) return parts.end();
  const auto above = parts.upper_bound(at);
  return parts.emplace_hint(above, at, std::prev(above)->second);
}

template <class Change>
void change_advice(MemoryObject& object, CUdeviceptr pointer, std::size_t size, Change&& change) {
  const std::scoped_lock lock(object.mutex);
  const auto begin = split(object, pointer);
  const auto end = split(object, pointer + size);
  for (auto part = begin; part != end; ++part) change(part->second);
}

/// The advice for all parts that a range touches.
std::vector<Advice> advice_of(MemoryObject& object, CUdeviceptr pointer, std::size_t size) {
  const std::scoped_lock lock(object.mutex);
  if (object.advice.empty()) return {Advice{}};
  std::vector<Advice> all;
  auto part = std::prev(object.advice.upper_bound(pointer));
  for (; part != object.advice.end() && part->first < pointer + size; ++part) {
    all.push_back(part->second);
  }
  return all;
}

CUmemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, {0}};
  return {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
}

CUresult check(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return find_device(location.id) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult prefetch(CUdeviceptr pointer, std::size_t size, const CUmemLocation& location,
                  unsigned flags, CUstream handle) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_capturing()) return refuse_in_capture(*stream);
    if (const CUresult status = check(location); status != CUDA_SUCCESS) return status;
    const auto object = find_managed(pointer, size);
    if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
    change_advice(*object, pointer, size, [&](Advice& advice) { advice.prefetched = location; });
    return CUDA_SUCCESS;
  });
}

/// Ranges, and where each is to be prefetched.
struct Batch {
  std::span<const CUdeviceptr> pointers;
  std::span<const std::size_t> sizes;
  std::span<const CUmemLocation> locations;
  std::span<const std::size_t> location_begins;
};

CUresult check(const Stream& stream, const Batch& batch, unsigned long long flags) {
  if (flags != 0 || batch.pointers.data() == nullptr || batch.sizes.data() == nullptr ||
      batch.pointers.empty()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (stream.queue->kind() == QueueKind::legacy) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "batches don't go to the legacy default stream");
  }
  if (stream.is_capturing()) return refuse_in_capture(stream);
  for (std::size_t i = 0; i < batch.pointers.size(); ++i) {
    if (find_managed(batch.pointers[i], batch.sizes[i]) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult check_locations(const Batch& batch) {
  if (batch.locations.data() == nullptr || batch.location_begins.data() == nullptr ||
      batch.locations.empty() || batch.location_begins.front() != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; i < batch.locations.size(); ++i) {
    if (const CUresult status = check(batch.locations[i]); status != CUDA_SUCCESS) return status;
    const std::size_t begin = batch.location_begins[i];
    if (begin >= batch.pointers.size() || (i > 0 && begin <= batch.location_begins[i - 1])) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult prefetch_batch(const Batch& batch, unsigned long long flags, CUstream handle) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    CUresult status = check(*stream, batch, flags);
    if (status == CUDA_SUCCESS) status = check_locations(batch);
    if (status != CUDA_SUCCESS) return status;
    auto next = batch.location_begins.begin();
    auto location = batch.locations.begin();
    for (std::size_t i = 0; i < batch.pointers.size(); ++i) {
      if (next != batch.location_begins.end() && i == *next) {
        location = batch.locations.begin() + (next - batch.location_begins.begin());
        ++next;
      }
      const auto object = find_managed(batch.pointers[i], batch.sizes[i]);
      if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
      change_advice(*object, batch.pointers[i], batch.sizes[i],
                    [&](Advice& advice) { advice.prefetched = *location; });
    }
    return CUDA_SUCCESS;
  });
}

void set_accessed_by(Advice& advice, const CUmemLocation& location, bool on) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    advice.accessed_by_host = on;
    return;
  }
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(location.id);
  advice.accessed_by = on ? advice.accessed_by | bit : advice.accessed_by & ~bit;
}

CUresult advise(CUdeviceptr pointer, std::size_t size, CUmem_advise advice,
                const CUmemLocation& location) {
  return context_call([&](Context&) {
    const bool needs_location = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                                advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                                advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (needs_location) {
      if (const CUresult status = check(location); status != CUDA_SUCCESS) return status;
    }
    const auto object = find_managed(pointer, size);
    if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
    change_advice(*object, pointer, size, [&](Advice& part) {
      switch (advice) {
        case CU_MEM_ADVISE_SET_READ_MOSTLY:
          part.read_mostly = true;
          break;
        case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
          part.read_mostly = false;
          break;
        case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
          part.preferred = location;
          break;
        case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
          part.preferred = Advice{}.preferred;
          break;
        default:
          set_accessed_by(part, location, advice == CU_MEM_ADVISE_SET_ACCESSED_BY);
      }
    });
    return CUDA_SUCCESS;
  });
}

/// The location that all parts have; an invalid one if they differ.
CUmemLocation common(const std::vector<Advice>& parts, CUmemLocation Advice::*member) {
  const CUmemLocation first = parts.front().*member;
  const bool same = std::all_of(parts.begin(), parts.end(), [&](const Advice& part) {
    return (part.*member).type == first.type && (part.*member).id == first.id;
  });
  return same ? first : Advice{}.preferred;
}

int device_of(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return location.id;
  return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

void give_accessed_by(const std::vector<Advice>& parts, std::span<std::byte> data) {
  std::uint64_t devices = ~std::uint64_t{0};
  bool host = true;
  for (const Advice& part : parts) {
    devices &= part.accessed_by;
    host = host && part.accessed_by_host;
  }
  std::vector<int> ids;
  if (host) ids.push_back(CU_DEVICE_CPU);
  for (int i = 0; i < 64; ++i) {
    if ((devices >> i & 1U) != 0) ids.push_back(i);
  }
  ids.resize(data.size() / sizeof(int), CU_DEVICE_INVALID);
  std::memcpy(data.data(), ids.data(), data.size());
}

CUresult range_attribute(std::span<std::byte> data, CUmem_range_attribute attribute,
                         const std::vector<Advice>& parts) {
  const auto give = [&](int value) {
    if (data.size() != sizeof(value)) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(data.data(), &value, sizeof(value));
    return CUDA_SUCCESS;
  };
  const CUmemLocation preferred = common(parts, &Advice::preferred);
  const CUmemLocation prefetched = common(parts, &Advice::prefetched);
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return give(std::all_of(parts.begin(), parts.end(),
                              [](const Advice& part) { return part.read_mostly; })
                      ? 1
                      : 0);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return give(device_of(preferred));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return give(device_of(prefetched));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return give(preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return give(preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return give(prefetched.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return give(prefetched.id);
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      if (data.empty() || data.size() % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
      give_accessed_by(parts, data);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult range_attributes(void** data, const std::size_t* data_sizes,
                          const CUmem_range_attribute* attributes, std::size_t count,
                          CUdeviceptr pointer, std::size_t size) {
  return driver_call([&] {
    if (data == nullptr || data_sizes == nullptr || attributes == nullptr || count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto object = find_managed(pointer, size);
    if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::vector<Advice> parts = advice_of(*object, pointer, size);
    for (std::size_t i = 0; i < count; ++i) {
      if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      const std::span out(static_cast<std::byte*>(data[i]), data_sizes[i]);
      const CUresult result = range_attribute(out, attributes[i], parts);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, std::size_t size, CUdevice device,
                            CUstream stream) {
  return prefetch(pointer, size, location_of(device), 0, stream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, std::size_t size, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  return prefetch(pointer, size, location, flags, stream);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* pointers, std::size_t* sizes, std::size_t count,
                                 CUmemLocation* locations, std::size_t* location_begins,
                                 std::size_t location_count, unsigned long long flags,
                                 CUstream stream) {
  return prefetch_batch({{pointers, count},
                         {sizes, count},
                         {locations, location_count},
                         {location_begins, location_count}},
                        flags, stream);
}
/// What is discarded is undefined: it stays as it is here.
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pointers, std::size_t* sizes,
                                           std::size_t count, CUmemLocation* locations,
                                           std::size_t* location_begins, std::size_t location_count,
                                           unsigned long long flags, CUstream stream) {
  return cuMemPrefetchBatchAsync(pointers, sizes, count, locations, location_begins, location_count,
                                 flags, stream);
}
CUresult cuMemDiscardBatchAsync(CUdeviceptr* pointers, std::size_t* sizes, std::size_t count,
                                unsigned long long flags, CUstream handle) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return check(*stream, {{pointers, count}, {sizes, count}, {}, {}}, flags);
  });
}

CUresult cuMemAdvise(CUdeviceptr pointer, std::size_t size, CUmem_advise advice, CUdevice device) {
  return advise(pointer, size, advice, location_of(device));
}
CUresult cuMemAdvise_v2(CUdeviceptr pointer, std::size_t size, CUmem_advise advice,
                        CUmemLocation location) {
  return advise(pointer, size, advice, location);
}

CUresult cuMemRangeGetAttribute(void* data, std::size_t data_size, CUmem_range_attribute attribute,
                                CUdeviceptr pointer, std::size_t size) {
  return range_attributes(&data, &data_size, &attribute, 1, pointer, size);
}

CUresult cuMemRangeGetAttributes(void** data, std::size_t* data_sizes,
                                 CUmem_range_attribute* attributes, std::size_t count,
                                 CUdeviceptr pointer, std::size_t size) {
  return range_attributes(data, data_sizes, attributes, count, pointer, size);
}

}  // extern "C"
