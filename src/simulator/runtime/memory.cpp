// SPDX-License-Identifier: Apache-2.0
//
// Device, host and managed memory; pools.
#include <algorithm>
#include <array>

#include "simulator/runtime/types.hpp"

namespace cudacore::runtime {

namespace {

CUdeviceptr* as_device(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }
CUdeviceptr as_device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// For an allocation of 0 bytes, the result is a null pointer.
template <class Allocate>
Result allocate(void** pointer, std::size_t size, Allocate&& how) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  return size != 0 ? Result(how()) : cudaSuccess;
}

Result allocate_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (pitch == nullptr) return cudaErrorInvalidValue;
  *pitch = 0;
  return allocate(pointer, std::min(width, height),
                  [&] { return cuMemAllocPitch(as_device(pointer), pitch, width, height, 4); });
}

Result attributes_of(PointerAttributes& to, const void* pointer) {
  unsigned type = 0;
  unsigned is_managed = 0;
  int device = 0;
  void* on_device = nullptr;
  void* on_host = nullptr;
  std::array which{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
  std::array<void*, which.size()> values{&type, &is_managed, &device, &on_device, &on_host};
  const CUresult result =
      cuPointerGetAttributes(which.size(), which.data(), values.data(), as_device(pointer));
  if (result != CUDA_SUCCESS) return result;
  to = {is_managed != 0 ? MemoryType::managed : static_cast<MemoryType>(type), device, on_device,
        on_host};
  if (type == 0) to = {MemoryType::unregistered, -2, nullptr, const_cast<void*>(pointer)};
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return call([&] {
    return allocate(pointer, size, [&] { return cuMemAlloc(as_device(pointer), size); });
  });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call([&] { return allocate_pitch(pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(PitchedPointer* to, Extent extent) {
  return call([&]() -> Result {
    if (to == nullptr) return cudaErrorInvalidValue;
    to->width = extent.width;
    to->height = extent.height;
    std::size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
      to->pointer = nullptr;
      to->pitch = 0;
      return extent.width != 0 ? cudaErrorMemoryAllocation : cudaSuccess;
    }
    return allocate_pitch(&to->pointer, &to->pitch, extent.width, rows);
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  return call([&] {
    return size == 0 ? Result(cudaErrorInvalidValue) : allocate(pointer, size, [&] {
      return cuMemAllocManaged(as_device(pointer), size, flags);
    });
  });
}

cudaError_t cudaFree(void* pointer) {
  return call([&]() -> Result {
    return pointer != nullptr ? Result(cuMemFree(as_device(pointer))) : cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  return call([&] {
    return allocate(pointer, size, [&] {
      return cuMemHostAlloc(pointer, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    });
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return call([&] {
    return allocate(pointer, size, [&] { return cuMemHostAlloc(pointer, size, flags); });
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call([&]() -> Result {
    return pointer != nullptr ? Result(cuMemFreeHost(pointer)) : cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return call([&] { return cuMemHostRegister(pointer, size, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call([&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** to, void* pointer, unsigned flags) {
  return call([&] { return cuMemHostGetDevicePointer(as_device(to), pointer, flags); });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return call([&] { return cuMemHostGetFlags(flags, pointer); });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&] { return cuMemGetInfo(free, total); });
}

cudaError_t cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return call([&] {
    return attributes != nullptr ? attributes_of(*attributes, pointer)
                                 : Result(cudaErrorInvalidValue);
  });
}

cudaError_t cudaMemRangeGetAttribute(void* to, std::size_t size, CUmem_range_attribute attribute,
                                     const void* pointer, std::size_t count) {
  return call(
      [&] { return cuMemRangeGetAttribute(to, size, attribute, as_device(pointer), count); });
}

cudaError_t cudaMemRangeGetAttributes(void** to, std::size_t* sizes,
                                      CUmem_range_attribute* attributes, std::size_t number,
                                      const void* pointer, std::size_t count) {
  return call([&] {
    return cuMemRangeGetAttributes(to, sizes, attributes, number, as_device(pointer), count);
  });
}

CUDACORE_RUNTIME_TWINS(cudaMallocAsync, _ptsz, (void** pointer, std::size_t size, CUstream stream),
                       allocate(pointer, size, [&] {
                         return cuMemAllocAsync(as_device(pointer), size, on(stream));
                       }))

CUDACORE_RUNTIME_TWINS(cudaMallocFromPoolAsync, _ptsz,
                       (void** pointer, std::size_t size, CUmemoryPool pool, CUstream stream),
                       allocate(pointer, size, [&] {
                         return cuMemAllocFromPoolAsync(as_device(pointer), size, pool, on(stream));
                       }))

CUDACORE_RUNTIME_TWINS(cudaFreeAsync, _ptsz, (void* pointer, CUstream stream),
                       pointer != nullptr ? Result(cuMemFreeAsync(as_device(pointer), on(stream)))
                                          : cudaSuccess)

CUDACORE_RUNTIME_TWINS(cudaStreamAttachMemAsync, _ptsz,
                       (CUstream stream, void* pointer, std::size_t size, unsigned flags),
                       cuStreamAttachMemAsync(on(stream), as_device(pointer), size, flags))

cudaError_t cudaMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call([&] { return cuMemPoolCreate(pool, properties); });
}

cudaError_t cudaMemPoolDestroy(CUmemoryPool pool) {
  return call([&] { return cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(CUmemoryPool pool, std::size_t size) {
  return call([&] { return cuMemPoolTrimTo(pool, size); });
}

cudaError_t cudaMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call([&] { return cuMemPoolSetAttribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call([&] { return cuMemPoolGetAttribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, std::size_t count) {
  return call([&] { return cuMemPoolSetAccess(pool, map, count); });
}

cudaError_t cudaMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool,
                                 CUmemLocation* location) {
  return call([&] { return cuMemPoolGetAccess(flags, pool, location); });
}

cudaError_t cudaDeviceGetDefaultMemPool(CUmemoryPool* pool, int device) {
  return driver_call([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(CUmemoryPool* pool, int device) {
  return driver_call([&] { return cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, CUmemoryPool pool) {
  return driver_call([&] { return cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                     CUmemAllocationType type) {
  return driver_call([&] { return cuMemGetDefaultMemPool(pool, location, type); });
}

cudaError_t cudaMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location,
                              CUmemAllocationType type) {
  return driver_call([&] { return cuMemGetMemPool(pool, location, type); });
}

cudaError_t cudaMemSetMemPool(CUmemLocation* location, CUmemAllocationType type,
                              CUmemoryPool pool) {
  return driver_call([&] { return cuMemSetMemPool(location, type, pool); });
}

}  // extern "C"

}  // namespace cudacore::runtime
