// SPDX-License-Identifier: Apache-2.0
//
// Memory, through the driver's functions: allocations, copies, fills, pointers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

class DriverMemory : public DriverTest {
 protected:
  CUdeviceptr allocate(std::size_t size) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAlloc_v2(&pointer, size), CUDA_SUCCESS);
    return pointer;
  }
  std::vector<std::uint8_t> read(CUdeviceptr pointer, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    EXPECT_EQ(cuMemcpyDtoH_v2(bytes.data(), pointer, size), CUDA_SUCCESS);
    return bytes;
  }
  static std::vector<std::uint8_t> numbers(std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    return bytes;
  }
};

TEST_F(DriverMemory, AllocatesAndFrees) {
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CUdeviceptr pointer = allocate(mib);
  std::size_t less = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&less, &total), CUDA_SUCCESS);
  EXPECT_LE(less + mib, free);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, pointer + 100), CUDA_SUCCESS);
  EXPECT_EQ(base, pointer);
  EXPECT_EQ(size, mib);
  EXPECT_EQ(cuMemFree_v2(pointer + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, pointer), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cuMemGetInfo_v2(&less, &total), CUDA_SUCCESS);
  EXPECT_EQ(less, free);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc_v2(nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, total * 2), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(DriverMemory, Pitch) {
  CUdeviceptr pointer = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 512U);
  EXPECT_EQ(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocPitch_v2(&pointer, &pitch, std::size_t{1} << 40U, std::size_t{1} << 40U, 4),
            CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(DriverMemory, CopiesOfAllSizes) {
  CUstream stream = make_stream();
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{70'000}, 9 * mib}) {
    const auto bytes = numbers(size);
    const CUdeviceptr one = allocate(size);
    const CUdeviceptr two = allocate(size);
    ASSERT_EQ(cuMemcpyHtoD_v2(one, bytes.data(), size), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoDAsync_v2(two, one, size, stream), CUDA_SUCCESS);
    std::vector<std::uint8_t> back(size);
    ASSERT_EQ(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(back.data()), two, size, stream),
              CUDA_SUCCESS);
    EXPECT_EQ(back, bytes) << size;  // to pageable memory, so it is complete
  }
}

TEST_F(DriverMemory, CopiesCheckTheirRanges) {
  std::array<std::uint8_t, 64> host{};
  const CUdeviceptr pointer = allocate(64);
  EXPECT_EQ(cuMemcpyHtoD_v2(pointer, host.data(), 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(pointer + 60, host.data(), 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(pointer, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(0, host.data(), 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(0, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), reinterpret_cast<CUdeviceptr>(host.data()), 4),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(pointer, 0x1000, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD_v2(pointer, host.data(), 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(pointer, reinterpret_cast<CUdeviceptr>(host.data()), 4),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, PageableSourceMayChangeAfterTheCall) {
  CUstream stream = make_stream();
  auto bytes = numbers(1000);
  const auto expected = bytes;
  const CUdeviceptr pointer = allocate(1000);
  Gate gate(stream);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(pointer, bytes.data(), 1000, stream), CUDA_SUCCESS);
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(read(pointer, 1000), expected);
}

TEST_F(DriverMemory, PinnedCopiesAreAsynchronous) {
  CUstream stream = make_stream();
  void* host = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&host, mib, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  const CUdeviceptr pointer = allocate(mib);
  Gate gate(stream);
  ASSERT_EQ(cuMemsetD8Async(pointer, 7, mib, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(host, pointer, mib, stream), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<std::uint8_t*>(host)[5], 0);
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<std::uint8_t*>(host)[mib - 1], 7);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, Rectangles) {
  constexpr std::size_t pitch = 16;
  const auto bytes = numbers(pitch * 8);
  const CUdeviceptr pointer = allocate(pitch * 8);
  ASSERT_EQ(cuMemsetD8_v2(pointer, 0, pitch * 8), CUDA_SUCCESS);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = bytes.data();
  copy.srcXInBytes = 1;
  copy.srcY = 2;
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = pointer;
  copy.dstXInBytes = 4;
  copy.dstY = 1;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 5;
  copy.Height = 3;
  ASSERT_EQ(cuMemcpy2D_v2(&copy), CUDA_SUCCESS);
  const auto result = read(pointer, pitch * 8);
  for (std::size_t y = 0; y < 8; ++y) {
    for (std::size_t x = 0; x < pitch; ++x) {
      const bool inside = x >= 4 && x < 9 && y >= 1 && y < 4;
      EXPECT_EQ(result[y * pitch + x], inside ? bytes[(y + 1) * pitch + x - 3] : 0);
    }
  }
  copy.dstPitch = 8;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.dstPitch = pitch;
  copy.Height = 8;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.Height = 3;
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy2D_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, Boxes) {
  constexpr std::size_t edge = 8;
  const auto bytes = numbers(edge * edge * edge);
  std::vector<std::uint8_t> result(edge * edge * edge);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = allocate(bytes.size());
  ASSERT_EQ(cuMemcpyHtoD_v2(copy.srcDevice, bytes.data(), bytes.size()), CUDA_SUCCESS);
  copy.srcXInBytes = 1;
  copy.srcY = 2;
  copy.srcZ = 3;
  copy.srcPitch = edge;
  copy.srcHeight = edge;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = result.data();
  copy.dstPitch = edge;
  copy.dstHeight = edge;
  copy.WidthInBytes = 3;
  copy.Height = 2;
  copy.Depth = 4;
  ASSERT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
  for (std::size_t z = 0; z < edge; ++z) {
    for (std::size_t y = 0; y < edge; ++y) {
      for (std::size_t x = 0; x < edge; ++x) {
        const bool inside = x < 3 && y < 2 && z < 4;
        EXPECT_EQ(result[(z * edge + y) * edge + x],
                  inside ? bytes[((z + 3) * edge + y + 2) * edge + x + 1] : 0);
      }
    }
  }
  copy.Depth = 6;
  EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.Depth = 4;
  copy.srcHeight = 3;
  EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, Fills) {
  const CUdeviceptr pointer = allocate(64);
  ASSERT_EQ(cuMemsetD8_v2(pointer, 0, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD16_v2(pointer + 2, 0x0102, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32_v2(pointer + 8, 0x01020304, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD2D8_v2(pointer + 32, 8, 9, 2, 3), CUDA_SUCCESS);
  std::vector<std::uint8_t> expected(64);
  const std::array<std::uint8_t, 12> begin{0, 0, 2, 1, 2, 1, 0, 0, 4, 3, 2, 1};
  std::copy(begin.begin(), begin.end(), expected.begin());
  for (const std::size_t at : {32U, 33U, 40U, 41U, 48U, 49U}) expected[at] = 9;
  EXPECT_EQ(read(pointer, 64), expected);
  EXPECT_EQ(cuMemsetD16_v2(pointer + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(pointer + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(pointer, 0, 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8_v2(0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D8_v2(pointer, 4, 0, 8, 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, RegisteredMemory) {
  auto bytes = numbers(10'000);
  EXPECT_EQ(cuMemHostUnregister(bytes.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ASSERT_EQ(cuMemHostRegister_v2(bytes.data(), bytes.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister_v2(bytes.data() + 5000, 10'000, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer_v2(&pointer, bytes.data() + 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(pointer, reinterpret_cast<CUdeviceptr>(bytes.data() + 1));
  EXPECT_EQ(cuMemsetD8_v2(pointer, 0, 3), CUDA_SUCCESS);
  EXPECT_EQ(bytes[3], 0);
  EXPECT_EQ(cuMemHostUnregister(bytes.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostGetDevicePointer_v2(&pointer, bytes.data(), 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, ManagedMemory) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAllocManaged(&pointer, 8192, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto* bytes = reinterpret_cast<std::uint8_t*>(pointer);
  ASSERT_EQ(cuMemsetD8_v2(pointer, 3, 8192), CUDA_SUCCESS);
  EXPECT_EQ(bytes[8191], 3);
  const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  EXPECT_EQ(cuMemAdvise_v2(pointer, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device),
            CUDA_SUCCESS);
  EXPECT_EQ(cuMemAdvise_v2(pointer, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync_v2(pointer, 8192, device, 0, nullptr), CUDA_SUCCESS);
  const auto ask = [&](CUmem_range_attribute attribute, std::size_t size) {
    int value = 77;
    EXPECT_EQ(cuMemRangeGetAttribute(&value, sizeof(value), attribute, pointer, size),
              CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 8192), 1);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 4096), 0);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 8192), CU_DEVICE_INVALID);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 8192), 0);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, 8192), CU_DEVICE_INVALID);
  EXPECT_EQ(cuMemPrefetchAsync_v2(pointer, 8193, device, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_SUCCESS);
}

TEST_F(DriverMemory, PointerAttributes) {
  const CUdeviceptr pointer = allocate(1000);
  CUcontext its = nullptr;
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  CUdeviceptr begin = 0;
  std::size_t size = 0;
  int ordinal = -1;
  unsigned managed = 1;
  std::array attributes{CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   CU_POINTER_ATTRIBUTE_IS_MANAGED};
  std::array<void*, 6> data{&its, &type, &begin, &size, &ordinal, &managed};
  ASSERT_EQ(cuPointerGetAttributes(6, attributes.data(), data.data(), pointer + 10), CUDA_SUCCESS);
  EXPECT_EQ(its, context);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(begin, pointer);
  EXPECT_EQ(size, 1000U);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(managed, 0U);
  void* host = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, pointer),
            CUDA_ERROR_INVALID_VALUE);
  int local = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuPointerGetAttributes(6, attributes.data(), data.data(), unknown), CUDA_SUCCESS);
  EXPECT_EQ(its, nullptr);
  EXPECT_EQ(static_cast<int>(type), 0);
  EXPECT_EQ(size, 0U);
  unsigned on = 1;
  EXPECT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer), CUDA_SUCCESS);
  on = 0;
  EXPECT_EQ(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer), CUDA_SUCCESS);
  EXPECT_EQ(on, 1U);
}

TEST_F(DriverMemory, EndsWithItsContext) {
  std::size_t free = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  const CUdeviceptr pointer = allocate(mib);
  ASSERT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo_v2(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(after, free);
  EXPECT_EQ(cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemory, Batches) {
  CUstream stream = make_stream();
  const auto bytes = numbers(64);
  const CUdeviceptr pointer = allocate(64);
  std::array to{pointer, pointer + 32};
  std::array from{reinterpret_cast<CUdeviceptr>(bytes.data()) + 32,
                  reinterpret_cast<CUdeviceptr>(bytes.data())};
  std::array<std::size_t, 2> sizes{32, 32};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t begin = 0;
  ASSERT_EQ(cuMemcpyBatchAsync_v2(to.data(), from.data(), sizes.data(), 2, &attributes, &begin, 1,
                                  stream),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  const auto result = read(pointer, 64);
  EXPECT_EQ(result[0], bytes[32]);
  EXPECT_EQ(result[63], bytes[31]);
  sizes[1] = 33;
  std::size_t failed = 0;
  EXPECT_EQ(cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), 2, &attributes, &begin, 1,
                               &failed, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, 1U);
}

TEST_F(DriverMemory, BatchesOfManagedMemory) {
  CUstream stream = make_stream();
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 3 * mib, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  std::array pointers{managed, managed + mib, managed + 2 * mib};
  std::array<std::size_t, 3> sizes{mib, mib, mib};
  std::array<CUmemLocation, 2> places{};
  places[0].type = CU_MEM_LOCATION_TYPE_DEVICE;
  places[1].type = CU_MEM_LOCATION_TYPE_HOST;
  std::array<std::size_t, 2> begins{0, 2};
  const auto place_of = [&](CUdeviceptr pointer) {
    int place = 0;
    EXPECT_EQ(cuMemRangeGetAttribute(&place, sizeof(place),
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, pointer, mib),
              CUDA_SUCCESS);
    return place;
  };
  const auto prefetch = [&](CUstream on) {
    return cuMemPrefetchBatchAsync(pointers.data(), sizes.data(), 3, places.data(), begins.data(),
                                   2, 0, on);
  };
  ASSERT_EQ(prefetch(stream), CUDA_SUCCESS);
  EXPECT_EQ(place_of(managed), 0);
  EXPECT_EQ(place_of(managed + mib), 0);
  EXPECT_EQ(place_of(managed + 2 * mib), CU_DEVICE_CPU);
  EXPECT_EQ(prefetch(nullptr), CUDA_ERROR_INVALID_VALUE);
  std::swap(places[0], places[1]);
  EXPECT_EQ(cuMemDiscardAndPrefetchBatchAsync(pointers.data(), sizes.data(), 3, places.data(),
                                              begins.data(), 2, 0, stream),
            CUDA_SUCCESS);
  EXPECT_EQ(place_of(managed), CU_DEVICE_CPU);
  begins[1] = 3;
  EXPECT_EQ(prefetch(stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemDiscardBatchAsync(pointers.data(), sizes.data(), 3, 0, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemDiscardBatchAsync(pointers.data(), sizes.data(), 3, 1, stream),
            CUDA_ERROR_INVALID_VALUE);
  sizes[2] = 2 * mib;
  EXPECT_EQ(cuMemDiscardBatchAsync(pointers.data(), sizes.data(), 3, 0, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(managed), CUDA_SUCCESS);
}

TEST_F(DriverMemory, HostMemoryStaysWhileOthersWorkOnIt) {
  void* pinned = nullptr;
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocHost_v2(&pinned, mib), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&managed, mib, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  std::memset(pinned, 7, mib);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  const CUdeviceptr copied = allocate(mib);
  CUstream stream = make_stream();
  Gate gate(stream);
  EXPECT_EQ(cuMemsetD8Async(managed, 1, mib, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWriteValue32(stream, managed, 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitValue32(stream, managed, 5, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(copied, managed, 8, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(copied + 8, pinned, mib - 8, stream), CUDA_SUCCESS);
  // Freeing waits only for the work of the memory's own context.
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(managed), CUDA_SUCCESS);
  gate.open();
  ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  const auto bytes = read(copied, mib);
  EXPECT_EQ(std::vector(bytes.begin(), bytes.begin() + 8),
            (std::vector<std::uint8_t>{5, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(std::count(bytes.begin() + 8, bytes.end(), 7), static_cast<std::ptrdiff_t>(mib - 8));
  EXPECT_EQ(cuMemsetD8_v2(managed, 0, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
}

TEST_F(DriverMemory, IsFreedWhileItsContextEnds) {
  for (int i = 0; i < 100; ++i) {
    CUcontext other = nullptr;
    void* pinned = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocHost_v2(&pinned, 64), CUDA_SUCCESS);
    const CUdeviceptr pointer = allocate(64);
    ASSERT_EQ(cuCtxPopCurrent_v2(&other), CUDA_SUCCESS);
    std::thread end([&] { EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS); });
    // Later calls find nothing to free.
    for (const CUresult result : {cuMemFreeHost(pinned), cuMemFree_v2(pointer)}) {
      EXPECT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE) << result;
    }
    end.join();
  }
}

}  // namespace
}  // namespace cudacore::simulator
