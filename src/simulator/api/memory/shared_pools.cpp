// SPDX-License-Identifier: Apache-2.0
//
// Memory pools that processes share.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include <unistd.h>

#include "simulator/api/entry.hpp"
#include "simulator/api/memory/memory_pool.hpp"

namespace cudacore::simulator {
namespace {

std::size_t memory_of_host() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

CUresult check_handle(CUmemAllocationHandleType type, unsigned long long flags) {
  if (flags != 0 || type == CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_NOT_SUPPORTED, "pools are shared by file descriptors alone here");
}

/// A call on a pool that processes share: CUresult body(MemoryPool&).
template <class Body>
CUresult shared_pool_call(CUmemoryPool handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<MemoryPool> pool = registry().pools.find(handle);
    if (pool == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the handle is not one of a live memory pool");
    }
    if (pool->file == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemPoolCreate was not asked for handles");
    }
    return body(*pool);
  });
}

CUresult import_pool(CUmemoryPool& handle, int descriptor) {
  std::shared_ptr<PoolFile> file = PoolFile::open(descriptor);
  if (file == nullptr) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the file descriptor is not one of a memory pool");
  }
  const MemoryFileNote& note = file->note();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = static_cast<CUmemLocationType>(note.place);
  Device* device = nullptr;
  if (note.place == CU_MEM_LOCATION_TYPE_DEVICE) {
    const auto& devices = registry().devices;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const auto& one) { return one->physical == note.device; });
    if (found == devices.end()) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the pool is of a device that is not visible here");
    }
    device = found->get();
    properties.location.id = device->ordinal;
  } else if (note.place != CU_MEM_LOCATION_TYPE_HOST &&
             note.place != CU_MEM_LOCATION_TYPE_HOST_NUMA) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the file descriptor is not one of a memory pool");
  }
  handle = MemoryPool::create(properties, device, false, std::move(file))->handle;
  return CUDA_SUCCESS;
}

CUresult export_pointer(CUmemPoolPtrExportData& data, CUdeviceptr pointer) {
  const std::shared_ptr<MemoryObject> object = MemoryTable::instance().find(pointer);
  if (object == nullptr || object->pool == nullptr || object->pool->file == nullptr ||
      object->pool->is_imported()) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "no memory of a pool of this process that can be shared begins at the address");
  }
  if (!object->pool->is_exported.load(std::memory_order_relaxed)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "a pool is exported before its pointers are");
  }
  PoolFile& file = *object->pool->file;
  PieceNote note;
  const auto offset = static_cast<std::size_t>(object->allocation.host - file.bytes(0));
  if (!file.export_piece(offset, object->allocation.size, note)) {
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too many pointers of the pool are exported");
  }
  data = std::bit_cast<CUmemPoolPtrExportData>(note);
  return CUDA_SUCCESS;
}

CUresult import_pointer(MemoryPool& pool, CUdeviceptr& pointer,
                        const CUmemPoolPtrExportData& data) {
  if (!pool.is_imported()) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "pointers are imported into imported pools");
  }
  const auto note = std::bit_cast<PieceNote>(data);
  const CUresult result = pool.file->import_piece(note);
  if (result != CUDA_SUCCESS) return result;
  try {
    pointer = pool.add_piece(note.offset, note.size)->allocation.address;
  } catch (...) {
    AddressSpace::instance().erase(pool.file->address(note.offset));
    pool.file->release(note.offset);
    throw;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult make_pool_file(const CUmemPoolProps& properties, const Device* device,
                        std::shared_ptr<PoolFile>& file) {
  const CUresult status = check_handle(properties.handleTypes, 0);
  if (status != CUDA_SUCCESS) return status;
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "pools of managed memory can't be shared");
  }
  MemoryFileNote note;
  note.place = properties.location.type;
  note.device = device != nullptr ? device->physical : -1;
  const std::size_t all = device != nullptr ? device->memory.capacity() : memory_of_host();
  const std::size_t limit = properties.maxSize != 0 ? std::min(properties.maxSize, all) : all;
  file = PoolFile::create(limit, note);
  if (file != nullptr) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host has too few addresses or file descriptors");
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuMemPoolExportToShareableHandle(void* shareable, CUmemoryPool pool,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return shared_pool_call(pool, [&](MemoryPool& shared) {
    if (shareable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = check_handle(type, flags); status != CUDA_SUCCESS) return status;
    if (shared.is_imported()) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the process that made a pool exports it");
    }
    const int descriptor = shared.file->duplicate();
    if (descriptor < 0) return refuse(CUDA_ERROR_OPERATING_SYSTEM, "no file descriptor is free");
    *static_cast<int*>(shareable) = descriptor;
    shared.is_exported.store(true, std::memory_order_relaxed);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* shareable,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return driver_call([&] {
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = check_handle(type, flags); status != CUDA_SUCCESS) return status;
    // The descriptor itself, not a pointer to it.
    return import_pool(*pool, static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)));
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  return driver_call(
      [&] { return data != nullptr ? export_pointer(*data, pointer) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool pool,
                                CUmemPoolPtrExportData* data) {
  return shared_pool_call(pool, [&](MemoryPool& shared) {
    if (pointer == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return import_pointer(shared, *pointer, *data);
  });
}

}  // extern "C"
