// SPDX-License-Identifier: Apache-2.0
//
// Device memory that is allocated and freed immediately.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "simulator/api/graph/graph_memory.hpp"
#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/memory/memory_pool.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/stream.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::size_t usual_align = 512;  ///< CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
constexpr std::size_t pitch_align = 512;

CUresult file(std::shared_ptr<MemoryObject> object, Origin origin, unsigned flags,
              std::uint64_t& address) {
  if (object == nullptr) return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too little memory is free");
  object->origin = origin;
  object->flags = flags;
  address = object->allocation.address;
  MemoryTable::instance().insert(std::move(object));
  return CUDA_SUCCESS;
}

CUresult allocate(Context& context, CUdeviceptr* pointer, std::size_t size) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
  *pointer = 0;
  if (size == 0) return refuse(CUDA_ERROR_INVALID_VALUE, "an allocation of no bytes");
  std::uint64_t address = 0;
  const CUresult result =
      file(make_device_memory(context.device, size, usual_align, false, &context), Origin::device,
           0, address);
  if (result == CUDA_SUCCESS) *pointer = address;
  return result;
}

/// Waits for work that may use the memory.
CUresult wait_for_users(const MemoryObject& object, Context& current) {
  Context& owner = object.context != nullptr ? *object.context : current;
  const CUresult result = synchronize_context(owner);
  return &owner == &current ? result : synchronize_context(current);
}

CUresult free_memory(CUdeviceptr pointer) {
  if (const CUresult status = driver_status(); status != CUDA_SUCCESS) return status;
  if (pointer == 0) return CUDA_SUCCESS;
  Context* context = nullptr;
  if (const CUresult status = current_context_even_broken(context); status != CUDA_SUCCESS) {
    return status;
  }
  try {
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    const std::shared_ptr<MemoryObject> object =
        MemoryTable::instance().take(pointer, [](const MemoryObject& candidate) {
          return candidate.origin == Origin::device || candidate.origin == Origin::pool ||
                 candidate.origin == Origin::managed;
        });
    if (object == nullptr) {
      if (const auto memory = free_graph_memory(pointer)) return synchronize_context(*context);
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "no memory that cuMemFree frees begins at the address");
    }
    const CUresult result = wait_for_users(*object, *context);
    if (object->pool != nullptr) {
      object->pool->release(*object);
    } else {
      release_memory(*object);
    }
    return result;
  } catch (...) {
    return result_of_exception();
  }
}

}  // namespace

void release_context_memory(Context& context) noexcept {
  for (const auto& object : MemoryTable::instance().take_all(context)) release_memory(*object);
}

std::optional<Allocation> allocate_variable(Context& context, std::size_t size, std::size_t align,
                                            bool read_only, bool managed) {
  std::shared_ptr<MemoryObject> object =
      managed ? make_host_memory(MemoryKind::managed, size, &context)
              : make_device_memory(context.device, size, std::max(align, usual_align), read_only,
                                   &context);
  if (object == nullptr) return std::nullopt;
  const Allocation allocation = object->allocation;
  std::memset(allocation.host, 0, allocation.size);  // the memory may have been used before
  object->origin = Origin::variable;
  MemoryTable::instance().insert(std::move(object));
  return allocation;
}

void free_variable(Context&, const Allocation& allocation) noexcept {
  const std::shared_ptr<MemoryObject> object = MemoryTable::instance().take(
      allocation.address,
      [&](const MemoryObject& candidate) { return candidate.allocation.id == allocation.id; });
  if (object != nullptr) release_memory(*object);
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return context_call([&](Context& context) {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *free = free_bytes(context.device);
    *total = context.device.memory.capacity();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t size) {
  return context_call([&](Context& context) { return allocate(context, pointer, size); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element) {
  return context_call([&](Context& context) {
    const bool is_element = element == 4 || element == 8 || element == 16;
    if (pitch == nullptr || width == 0 || height == 0 || !is_element) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (width > std::numeric_limits<std::size_t>::max() / height - pitch_align) {
      return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too little memory is free");
    }
    const std::size_t row = round_up(width, pitch_align);
    const CUresult result = allocate(context, pointer, row * height);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
  });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) { return free_memory(pointer); }

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* size, CUdeviceptr pointer) {
  return context_call([&](Context&) {
    const auto allocation = AddressSpace::instance().find(pointer);
    if (!allocation) return refuse(CUDA_ERROR_NOT_FOUND, "no live allocation holds the address");
    if (base != nullptr) *base = allocation->address;
    if (size != nullptr) *size = allocation->size;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t size, unsigned flags) {
  return context_call([&](Context& context) {
    const bool is_one = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
    if (pointer == nullptr || size == 0 || !is_one) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    std::uint64_t address = 0;
    const CUresult result = file(make_host_memory(MemoryKind::managed, size, &context),
                                 Origin::managed, flags, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
  });
}

}  // extern "C"
