// SPDX-License-Identifier: Apache-2.0
//
// Copies of a part of an array's first row. They are special cases of copies of boxes.
#include <cstdint>

#include "simulator/api/cuda_api.hpp"

namespace {

CUDA_MEMCPY3D row_of(std::size_t size) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = size;
  copy.Height = 1;
  copy.Depth = 1;
  return copy;
}

void copy_to(CUDA_MEMCPY3D& copy, CUarray array, std::size_t offset) {
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.dstXInBytes = offset;
}

void copy_to(CUDA_MEMCPY3D& copy, CUdeviceptr address) {
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = address;
}

void copy_to(CUDA_MEMCPY3D& copy, void* address) {
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = address;
}

void copy_from(CUDA_MEMCPY3D& copy, CUarray array, std::size_t offset) {
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcXInBytes = offset;
}

void copy_from(CUDA_MEMCPY3D& copy, CUdeviceptr address) {
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address;
}

void copy_from(CUDA_MEMCPY3D& copy, const void* address) {
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = address;
}

}  // namespace

extern "C" {

CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                         std::size_t size) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to, to_offset);
  copy_from(copy, from, from_offset);
  return cuMemcpy3D_v2(&copy);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t size) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to);
  copy_from(copy, from, offset);
  return cuMemcpy3D_v2(&copy);
}

CUresult cuMemcpyDtoA_v2(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t size) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to, offset);
  copy_from(copy, from);
  return cuMemcpy3D_v2(&copy);
}

CUresult cuMemcpyAtoH_v2(void* to, CUarray from, std::size_t offset, std::size_t size) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to);
  copy_from(copy, from, offset);
  return cuMemcpy3D_v2(&copy);
}

CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t size,
                              CUstream stream) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to);
  copy_from(copy, from, offset);
  return cuMemcpy3DAsync_v2(&copy, stream);
}

CUresult cuMemcpyHtoA_v2(CUarray to, std::size_t offset, const void* from, std::size_t size) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to, offset);
  copy_from(copy, from);
  return cuMemcpy3D_v2(&copy);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from, std::size_t size,
                              CUstream stream) {
  CUDA_MEMCPY3D copy = row_of(size);
  copy_to(copy, to, offset);
  copy_from(copy, from);
  return cuMemcpy3DAsync_v2(&copy, stream);
}

}  // extern "C"
