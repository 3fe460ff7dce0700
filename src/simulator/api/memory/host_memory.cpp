// SPDX-License-Identifier: Apache-2.0
//
// Host memory that devices can access: allocated or registered.
#include <memory>
#include <utility>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/stream.hpp"

using namespace cudacore::simulator;

namespace {

CUresult allocate_host(void** pointer, std::size_t size, unsigned flags) {
  return context_call([&](Context& context) {
    constexpr unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (pointer == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    if (size == 0) {
      *pointer = nullptr;
      return CUDA_SUCCESS;
    }
    std::shared_ptr<MemoryObject> object = make_host_memory(MemoryKind::pinned, size, &context);
    if (object == nullptr)
      return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host has too little memory");
    object->origin = Origin::host;
    object->flags = flags | CU_MEMHOSTALLOC_DEVICEMAP;  // with unified addresses it always is
    *pointer = object->allocation.host;
    MemoryTable::instance().insert(std::move(object));
    return CUDA_SUCCESS;
  });
}

/// Removes memory of the origin that begins there, and frees it when nothing uses it any more.
CUresult release(void* pointer, Origin origin, CUresult otherwise, const char* why) {
  if (const CUresult status = driver_status(); status != CUDA_SUCCESS) return status;
  Context* context = nullptr;
  if (const CUresult status = current_context_even_broken(context); status != CUDA_SUCCESS) {
    return status;
  }
  try {
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const std::shared_ptr<MemoryObject> object = MemoryTable::instance().take(
        address, [&](const MemoryObject& candidate) { return candidate.origin == origin; });
    if (object == nullptr)
      return refuse(pointer != nullptr ? otherwise : CUDA_ERROR_INVALID_VALUE, why);
    CUresult result = synchronize_context(*object->context);
    if (object->context.get() != context) result = synchronize_context(*context);
    release_memory(*object);
    return result;
  } catch (...) {
    return result_of_exception();
  }
}

CUresult register_host(void* pointer, std::size_t size, unsigned flags) {
  return context_call([&](Context& context) {
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                               CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (pointer == nullptr || size == 0 || size > ~address || (flags & ~known) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "memory of I/O devices is not simulated");
    }
    // Registered allocations don't overlap, so only the highest one below the end can overlap the
    // range.
    const auto below = AddressSpace::instance().nearest_below(address + size);
    if (below && below->end() > address) {
      return refuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                    "the range holds memory that is registered, or was allocated by the driver");
    }
    auto object = std::make_shared<MemoryObject>();
    Allocation& allocation = object->allocation;
    allocation.address = address;
    allocation.size = size;
    allocation.host = static_cast<std::byte*>(pointer);
    allocation.kind = MemoryKind::registered;
    allocation.read_only = (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
    allocation.id = AddressSpace::instance().insert(allocation);
    object->origin = Origin::registered;
    object->context = context.shared_from_this();
    object->device = &context.device;
    object->flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP;
    MemoryTable::instance().insert(std::move(object));
    return CUDA_SUCCESS;
  });
}

/// The host memory that contains a byte; null if devices can't access any such memory.
std::shared_ptr<MemoryObject> find_host(const void* pointer) {
  const auto allocation = AddressSpace::instance().find(reinterpret_cast<std::uintptr_t>(pointer));
  if (!allocation || allocation->kind == MemoryKind::device) return nullptr;
  return find_object(*allocation);
}

}  // namespace

extern "C" {

CUresult cuMemAllocHost_v2(void** pointer, std::size_t size) {
  return allocate_host(pointer, size, 0);
}

CUresult cuMemHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return allocate_host(pointer, size, flags);
}

CUresult cuMemFreeHost(void* pointer) {
  return release(pointer, Origin::host, CUDA_ERROR_INVALID_VALUE,
                 "no memory that cuMemAllocHost gave begins at the address");
}

CUresult cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned flags) {
  return register_host(pointer, size, flags);
}

CUresult cuMemHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return register_host(pointer, size, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return release(pointer, Origin::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                 "no registered memory begins at the address");
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_pointer, void* pointer, unsigned flags) {
  return context_call([&](Context&) {
    if (device_pointer == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (find_host(pointer) == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "devices don't reach the host's memory there");
    }
    *device_pointer = reinterpret_cast<std::uintptr_t>(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return context_call([&](Context&) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<MemoryObject> object = find_host(pointer);
    if (object == nullptr || object->origin != Origin::host) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemHostAlloc did not give the address");
    }
    *flags = object->flags;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
