// SPDX-License-Identifier: Apache-2.0
//
// Pools that processes share, through the driver's functions. The tests of the Python
// extension have several processes; here, one imports what it exports.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CUmemPoolProps pool_properties(CUmemLocationType place = CU_MEM_LOCATION_TYPE_DEVICE) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = by_descriptor;
  properties.location.type = place;
  properties.maxSize = std::size_t{16} << 20U;
  return properties;
}

CUmemoryPool make_pool(const CUmemPoolProps& properties = pool_properties()) {
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  return pool;
}

int export_pool(CUmemoryPool pool) {
  int descriptor = -1;
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, by_descriptor, 0), CUDA_SUCCESS);
  return descriptor;
}

CUresult import_descriptor(CUmemoryPool* pool, int descriptor) {
  return cuMemPoolImportFromShareableHandle(
      pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)), by_descriptor, 0);
}

CUmemoryPool import_pool(CUmemoryPool pool) {
  const int descriptor = export_pool(pool);
  CUmemoryPool imported = nullptr;
  EXPECT_EQ(import_descriptor(&imported, descriptor), CUDA_SUCCESS);
  close(descriptor);
  return imported;
}

CUmemPoolPtrExportData export_pointer(CUdeviceptr pointer) {
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(cuMemPoolExportPointer(&data, pointer), CUDA_SUCCESS);
  return data;
}

class DriverSharedPool : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    stream = make_stream();
    pool = make_pool();
  }
  void TearDown() override {
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
    DriverTest::TearDown();
  }

  CUdeviceptr allocate(std::size_t size, CUmemoryPool from = nullptr) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAllocFromPoolAsync(&pointer, size, from != nullptr ? from : pool, stream),
              CUDA_SUCCESS);
    return pointer;
  }
  void free(CUdeviceptr pointer) {
    EXPECT_EQ(cuMemFreeAsync(pointer, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }

  CUstream stream = nullptr;
  CUmemoryPool pool = nullptr;
};

TEST_F(DriverSharedPool, ImportedMemoryIsTheSame) {
  const CUdeviceptr pointer = allocate(1000);
  ASSERT_EQ(cuMemsetD8Async(pointer, 7, 1000, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  const CUmemoryPool imported = import_pool(pool);
  CUmemPoolPtrExportData data = export_pointer(pointer);
  CUdeviceptr same = 0;
  ASSERT_EQ(cuMemPoolImportPointer(&same, imported, &data), CUDA_SUCCESS);
  EXPECT_NE(same, pointer);
  std::array<unsigned char, 1000> bytes{};
  ASSERT_EQ(cuMemcpyDtoH_v2(bytes.data(), same, bytes.size()), CUDA_SUCCESS);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 7; }));
  EXPECT_NE(cuMemsetD8_v2(same, 0, 1001), CUDA_SUCCESS);
  std::size_t size = 0;
  CUdeviceptr start = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&start, &size, same + 10), CUDA_SUCCESS);
  EXPECT_EQ(start, same);
  EXPECT_EQ(size, 1000U);
  free(same);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
  free(pointer);
}

TEST_F(DriverSharedPool, HostMemoryIsSharedToo) {
  const CUmemoryPool pinned = make_pool(pool_properties(CU_MEM_LOCATION_TYPE_HOST_NUMA));
  const CUdeviceptr pointer = allocate(100, pinned);
  std::memset(reinterpret_cast<void*>(pointer), 3, 100);
  const CUmemoryPool imported = import_pool(pinned);
  CUmemPoolPtrExportData data = export_pointer(pointer);
  CUdeviceptr same = 0;
  ASSERT_EQ(cuMemPoolImportPointer(&same, imported, &data), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<char*>(same + 99), 3);
  free(same);
  free(pointer);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pinned), CUDA_SUCCESS);
}

TEST_F(DriverSharedPool, PoolsAreExportedBeforeTheirPointers) {
  const CUdeviceptr pointer = allocate(64);
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(cuMemPoolExportPointer(&data, pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(newest_log().find("a pool is exported before its pointers"), std::string::npos);
  close(export_pool(pool));
  EXPECT_EQ(cuMemPoolExportPointer(&data, pointer), CUDA_SUCCESS);
  free(pointer);
}

TEST_F(DriverSharedPool, PointersAreImportedOnce) {
  const CUdeviceptr pointer = allocate(64);
  const CUmemoryPool imported = import_pool(pool);
  CUmemPoolPtrExportData data = export_pointer(pointer);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_EQ(cuMemPoolImportPointer(&first, imported, &data), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolImportPointer(&second, imported, &data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(newest_log().find("imported already"), std::string::npos);
  free(first);
  EXPECT_EQ(cuMemPoolImportPointer(&second, imported, &data), CUDA_SUCCESS);
  free(second);
  free(pointer);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
}

TEST_F(DriverSharedPool, FreedPointersAreRefused) {
  const CUmemoryPool imported = import_pool(pool);
  const CUdeviceptr pointer = allocate(64);
  CUmemPoolPtrExportData old = export_pointer(pointer);
  free(pointer);
  CUdeviceptr same = 0;
  EXPECT_EQ(cuMemPoolImportPointer(&same, imported, &old), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr next = allocate(64);
  EXPECT_EQ(next, pointer);
  CUmemPoolPtrExportData data = export_pointer(next);
  EXPECT_EQ(cuMemPoolImportPointer(&same, imported, &old), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolImportPointer(&same, imported, &data), CUDA_SUCCESS);
  free(same);
  free(next);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
}

TEST_F(DriverSharedPool, ChangedDataIsRefused) {
  const CUdeviceptr pointer = allocate(64);
  const CUmemoryPool imported = import_pool(pool);
  const CUmemPoolPtrExportData data = export_pointer(pointer);
  for (std::size_t i = 0; i < sizeof data.reserved; ++i) {
    CUmemPoolPtrExportData changed = data;
    changed.reserved[i] ^= 1;
    CUdeviceptr same = 0;
    EXPECT_EQ(cuMemPoolImportPointer(&same, imported, &changed), CUDA_ERROR_INVALID_VALUE) << i;
  }
  CUmemPoolPtrExportData right = data;
  CUdeviceptr same = 0;
  EXPECT_EQ(cuMemPoolImportPointer(&same, pool, &right), CUDA_ERROR_INVALID_VALUE);
  free(pointer);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
}

TEST_F(DriverSharedPool, ImportedPoolsAllocateNothing) {
  const CUmemoryPool imported = import_pool(pool);
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&pointer, 64, imported, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(0, imported), CUDA_ERROR_INVALID_VALUE);
  int descriptor = -1;
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, imported, by_descriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
}

TEST_F(DriverSharedPool, MemoryIsCountedAndReused) {
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&before, &total), CUDA_SUCCESS);
  std::vector<CUdeviceptr> pointers;
  for (int i = 0; i < 4; ++i) pointers.push_back(allocate(std::size_t{4} << 20U));
  std::size_t free_bytes = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free_bytes, &total), CUDA_SUCCESS);
  EXPECT_LE(free_bytes, before - (std::size_t{16} << 20U));
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&more, 1, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
  for (const CUdeviceptr pointer : pointers) free(pointer);
  const CUdeviceptr all = allocate(std::size_t{16} << 20U);
  free(all);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo_v2(&free_bytes, &total), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes, before);
}

TEST_F(DriverSharedPool, WhatIsNoPoolIsRefused) {
  CUmemoryPool imported = nullptr;
  const int null = open("/dev/null", O_RDWR);
  const int memory = memfd_create("cudacore memory", MFD_ALLOW_SEALING);
  for (const int descriptor : {-1, null, memory, 1 << 20}) {
    EXPECT_EQ(import_descriptor(&imported, descriptor), CUDA_ERROR_INVALID_VALUE);
  }
  close(null);
  close(memory);
  EXPECT_EQ(cuMemPoolImportFromShareableHandle(&imported, nullptr, CU_MEM_HANDLE_TYPE_FABRIC, 0),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemPoolImportFromShareableHandle(nullptr, nullptr, by_descriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps properties = pool_properties();
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  const CUmemoryPool own = make_pool(properties);
  int descriptor = -1;
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, own, by_descriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr pointer = allocate(64, own);
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(cuMemPoolExportPointer(&data, pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportPointer(&data, 16), CUDA_ERROR_INVALID_VALUE);
  free(pointer);
  EXPECT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(cuMemPoolCreate(&imported, &properties), CUDA_ERROR_NOT_SUPPORTED);
  properties = pool_properties();
  properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  EXPECT_EQ(cuMemPoolCreate(&imported, &properties), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(DriverSharedPool, NoDescriptorIsLeaked) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    const CUmemoryPool another = make_pool();
    const CUmemoryPool imported = import_pool(another);
    EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
    EXPECT_EQ(cuMemPoolDestroy(another), CUDA_SUCCESS);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace cudacore::simulator
