// SPDX-License-Identifier: Apache-2.0
//
// Pools: what they count and keep, and when their memory becomes free again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

class DriverPool : public DriverTest {
 protected:
  CUmemoryPool make_pool(CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE,
                         CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED,
                         std::size_t most = 0) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location.type = location;
    properties.maxSize = most;
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    return pool;
  }
  static cuuint64_t attribute(CUmemoryPool pool, CUmemPool_attribute attribute) {
    cuuint64_t value = 0;
    EXPECT_EQ(cuMemPoolGetAttribute(pool, attribute, &value), CUDA_SUCCESS);
    return value;
  }
  static cuuint64_t used(CUmemoryPool pool) {
    return attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  }
  static cuuint64_t reserved(CUmemoryPool pool) {
    return attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  }
};

TEST_F(DriverPool, CountersFollowTheStream) {
  CUstream stream = make_stream();
  CUmemoryPool pool = make_pool();
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&pointer, mib, pool, stream), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), mib);
  EXPECT_EQ(reserved(pool), 32 * mib);
  Gate gate(stream);
  ASSERT_EQ(cuMemFreeAsync(pointer, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(pointer, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetAddressRange_v2(nullptr, nullptr, pointer), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), mib);
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 0U);
  EXPECT_EQ(reserved(pool), 0U);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), mib);
  cuuint64_t value = 1;
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value),
            CUDA_ERROR_INVALID_VALUE);
  value = 0;
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value), CUDA_SUCCESS);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0U);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverPool, KeepsWhatItsThresholdSays) {
  CUstream stream = make_stream();
  CUmemoryPool pool = make_pool();
  cuuint64_t threshold = ~cuuint64_t{0};
  ASSERT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
            CUDA_SUCCESS);
  std::size_t free = 0;
  std::size_t less = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&pointer, 48 * mib, pool, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 0U);
  EXPECT_EQ(reserved(pool), 64 * mib);
  ASSERT_EQ(cuMemGetInfo_v2(&less, &total), CUDA_SUCCESS);
  EXPECT_EQ(free - less, 64 * mib);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 40 * mib), CUDA_SUCCESS);
  EXPECT_EQ(reserved(pool), 64 * mib);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(reserved(pool), 0U);
  ASSERT_EQ(cuMemGetInfo_v2(&less, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, less);
}

TEST_F(DriverPool, FullPoolWaitsForFreesUnderWay) {
  CUstream stream = make_stream();
  CUmemoryPool pool =
      make_pool(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_PINNED, 64 * mib);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&first, 40 * mib, pool, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 40 * mib, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
  Gate gate(stream);
  ASSERT_EQ(cuMemFreeAsync(first, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 80 * mib, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 40 * mib, pool, stream), CUDA_SUCCESS);
  opener.join();
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&first, 1, pool, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8Async(second, 1, 40 * mib, stream), CUDA_SUCCESS);  // stays alive
  EXPECT_EQ(cuMemFreeAsync(second, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(DriverPool, HostAndManagedPools) {
  CUstream stream = make_stream();
  CUmemoryPool host = make_pool(CU_MEM_LOCATION_TYPE_HOST);
  CUmemoryPool managed = make_pool(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_MANAGED);
  for (CUmemoryPool pool : {host, managed}) {
    CUdeviceptr pointer = 0;
    ASSERT_EQ(cuMemAllocFromPoolAsync(&pointer, 1000, pool, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8Async(pointer, 5, 1000, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(reinterpret_cast<std::uint8_t*>(pointer)[999], 5);
    CUmemoryPool its = nullptr;
    EXPECT_EQ(cuPointerGetAttribute(&its, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer),
              CUDA_SUCCESS);
    EXPECT_EQ(its, pool);
    unsigned is_managed = 7;
    EXPECT_EQ(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer),
              CUDA_SUCCESS);
    EXPECT_EQ(is_managed, pool == managed ? 1U : 0U);
    EXPECT_EQ(cuMemFreeAsync(pointer, stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(DriverPool, DefaultAndCurrentPools) {
  CUmemoryPool usual = nullptr;
  CUmemoryPool current = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&usual, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(usual, current);
  EXPECT_EQ(cuMemPoolDestroy(usual), CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool pool = make_pool();
  ASSERT_EQ(cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocAsync(&pointer, 10, nullptr), CUDA_SUCCESS);
  EXPECT_GT(used(pool), 0U);
  EXPECT_EQ(cuMemFreeAsync(pointer, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(usual, current);
  CUmemLocation anywhere{CU_MEM_LOCATION_TYPE_NONE, {0}};
  EXPECT_EQ(cuMemGetMemPool(&current, &anywhere, CU_MEM_ALLOCATION_TYPE_MANAGED), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&current, &anywhere, CU_MEM_ALLOCATION_TYPE_PINNED),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetMemPool(&current, 99), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverPool, BadProperties) {
  CUmemoryPool pool = nullptr;
  CUmemPoolProps properties{};
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {99}};
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_DEVICE);
  properties.location.id = 0;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemFreeAsync(0x1234, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverPool, NoBytes) {
  CUdeviceptr pointer = 1;
  EXPECT_EQ(cuMemAllocAsync(&pointer, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(pointer, 0U);
  EXPECT_EQ(cuMemFreeAsync(pointer, nullptr), CUDA_SUCCESS);
  void* host = &pointer;
  EXPECT_EQ(cuMemHostAlloc(&host, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(host, nullptr);
}

TEST_F(DriverPool, ManyThreads) {
  CUmemoryPool pool = make_pool();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      cuCtxSetCurrent(context);
      CUstream stream = nullptr;
      EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
      for (int i = 0; i < 50; ++i) {
        const auto value = static_cast<std::uint8_t>(t * 50 + i);
        const std::size_t size = 1000 * static_cast<std::size_t>(i + 1);
        CUdeviceptr pointer = 0;
        std::vector<std::uint8_t> bytes(size);
        EXPECT_EQ(cuMemAllocFromPoolAsync(&pointer, size, pool, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuMemsetD8Async(pointer, value, size, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(bytes.data(), pointer, size, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFreeAsync(pointer, stream), CUDA_SUCCESS);
        EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(),
                                [&](std::uint8_t byte) { return byte == value; }));
      }
      EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(used(pool), 0U);
}

}  // namespace
}  // namespace cudacore::simulator
