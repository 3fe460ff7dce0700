// SPDX-License-Identifier: Apache-2.0
//
// What the driver knows about a pointer.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/memory/memory_pool.hpp"
#include "simulator/api/stream/stream.hpp"

using namespace cudacore::simulator;

namespace {

/// The subject of a query: nothing if the pointer was not allocated by or registered with the
/// driver.
struct Subject {
  CUdeviceptr pointer = 0;
  std::optional<Allocation> allocation;
  std::shared_ptr<MemoryObject> object;  ///< null once the memory is about to be freed in a stream

  explicit Subject(CUdeviceptr its) : pointer(its), allocation(AddressSpace::instance().find(its)) {
    if (allocation) object = find_object(*allocation);
  }
};

template <class T>
CUresult give(void* data, T value) {
  std::memcpy(data, &value, sizeof(value));
  return CUDA_SUCCESS;
}

CUmemorytype memory_type(const Allocation& allocation) {
  const bool on_host =
      allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
  return on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

int device_ordinal(const Subject& subject) {
  if (subject.allocation->device >= 0) return subject.allocation->device;
  const bool known = subject.object != nullptr && subject.object->device != nullptr;
  return known ? subject.object->device->ordinal : CU_DEVICE_CPU;
}

/// Whether an object's flags are the types of handles that it may have.
bool has_handle_types(const MemoryObject& object) {
  return object.allocation.is_mapped || (object.pool != nullptr && object.pool->file != nullptr);
}

CUresult give_access_flags(void* data, const Subject& subject) {
  Context* context = nullptr;
  if (const CUresult status = current_context(context); status != CUDA_SUCCESS) return status;
  if (!subject.allocation) return give(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
  const int device = context->device.ordinal;
  if (!subject.allocation->is_readable(device, context->readable_devices.load())) {
    return give(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
  }
  return give(data, subject.allocation->is_writable(device)
                        ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                        : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
}

/// One attribute of a known pointer.
CUresult give_attribute(void* data, CUpointer_attribute attribute, const Subject& subject) {
  const Allocation& allocation = *subject.allocation;
  const MemoryObject* object = subject.object.get();
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      const bool has_one = object != nullptr && object->context != nullptr;
      return give(data, has_one ? object->context->handle : nullptr);
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, memory_type(allocation));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, subject.pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (allocation.kind == MemoryKind::device ||
          (allocation.is_mapped && !allocation.host_access)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "the host doesn't reach memory of a device");
      }
      return give(data, subject.pointer);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(data, object != nullptr && object->sync_memops.load() ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(data, static_cast<unsigned long long>(allocation.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, allocation.kind == MemoryKind::managed ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, device_ordinal(subject));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(data, static_cast<CUdeviceptr>(allocation.address));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give(data, allocation.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(data, 1U);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(
          data, std::uint64_t{object != nullptr && has_handle_types(*object) ? object->flags : 0U});
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(data, 0U);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give_access_flags(data, subject);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data,
                  object != nullptr && object->pool != nullptr ? object->pool->handle : nullptr);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "tokens for nv-p2p.h are not simulated");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// One attribute of an unknown pointer.
CUresult give_nothing(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give<void*>(data, nullptr);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(data, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(data, 0U);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return driver_call([&] {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Subject subject(pointer);
    if (!subject.allocation) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "no live allocation holds the address");
    }
    return give_attribute(data, attribute, subject);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr pointer) {
  return driver_call([&] {
    if (attributes == nullptr || data == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const Subject subject(pointer);
    for (unsigned i = 0; i < count; ++i) {
      if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      const bool reached =
          subject.allocation && (attributes[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                                 subject.allocation->kind != MemoryKind::device);
      const CUresult result = reached ? give_attribute(data[i], attributes[i], subject)
                                      : give_nothing(data[i], attributes[i]);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr pointer) {
  return driver_call([&] {
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Subject subject(pointer);
    if (subject.object == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "no live allocation holds the address");
    }
    if (subject.object->pool != nullptr || subject.allocation->kind != MemoryKind::device) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "SYNC_MEMOPS is for memory of cuMemAlloc alone");
    }
    subject.object->sync_memops.store(*static_cast<const unsigned*>(value) != 0);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
