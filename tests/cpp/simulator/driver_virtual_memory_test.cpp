// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory, through the driver's functions: ranges, mappings, access, descriptors.
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t granule = std::size_t{2} << 20U;
constexpr auto descriptor_type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

constexpr char program[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [to];
  st.global.u32 [%rd1], 7;
  ret;
}
.visible .entry load(.param .u64 from) {
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [from];
  ld.global.u32 %r1, [%rd1];
  ret;
})";

class DriverVirtualMemory : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    free_before = free_bytes();
  }
  void TearDown() override {
    EXPECT_EQ(free_bytes(), free_before);
    DriverTest::TearDown();
  }

  static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
    return free;
  }
  static CUmemAllocationProp properties(int handles = CU_MEM_HANDLE_TYPE_NONE,
                                        CUmemLocationType type = CU_MEM_LOCATION_TYPE_DEVICE) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(handles);
    properties.location = {type, {0}};
    return properties;
  }
  static CUmemGenericAllocationHandle create(std::size_t size,
                                             const CUmemAllocationProp& of = properties()) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, size, &of, 0), CUDA_SUCCESS);
    return handle;
  }
  static CUdeviceptr reserve(std::size_t size, CUdeviceptr hint = 0) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAddressReserve(&address, size, 0, hint, 0), CUDA_SUCCESS);
    return address;
  }
  static CUresult allow(CUdeviceptr address, std::size_t size, CUmemAccess_flags flags, int device,
                        CUmemLocationType type = CU_MEM_LOCATION_TYPE_DEVICE) {
    const CUmemAccessDesc entry{{type, {device}}, flags};
    return cuMemSetAccess(address, size, &entry, 1);
  }
  /// Memory with its own range, mapped, that device 0 may read and write.
  static CUdeviceptr allocate(std::size_t size, CUmemGenericAllocationHandle handle) {
    const CUdeviceptr address = reserve(size);
    EXPECT_EQ(cuMemMap(address, size, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(allow(address, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 0), CUDA_SUCCESS);
    return address;
  }
  static void end(CUdeviceptr address, std::size_t size, CUmemGenericAllocationHandle handle) {
    EXPECT_EQ(cuMemUnmap(address, size), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(address, size), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  }
  /// Runs a kernel on a device, in a context of its own, and returns how it went.
  static CUresult run(const char* kernel, CUdeviceptr address, int device = 0) {
    CUcontext own = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuCtxCreate_v2(&own, 0, device), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleLoadData(&module, program), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module, kernel), CUDA_SUCCESS);
    std::array<void*, 1> values{&address};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, values.data(), nullptr),
              CUDA_SUCCESS);
    const CUresult result = cuCtxSynchronize();
    EXPECT_EQ(cuCtxDestroy_v2(own), CUDA_SUCCESS);
    return result;
  }

  std::size_t free_before = 0;
};

TEST_F(DriverVirtualMemory, MemoryIsReadAndWrittenThroughTheMapping) {
  const auto handle = create(granule);
  EXPECT_EQ(free_bytes(), free_before - granule);
  const CUdeviceptr address = allocate(granule, handle);
  EXPECT_EQ(run("store", address + 8), CUDA_SUCCESS);
  std::uint32_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address + 8, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address + granule - 2, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  end(address, granule, handle);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address + 8, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run("load", address + 8), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(DriverVirtualMemory, MemoryMovesToAnotherAddress) {
  const auto handle = create(granule);
  const CUdeviceptr before = allocate(granule, handle);
  EXPECT_EQ(cuMemsetD8_v2(before, 5, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  const CUdeviceptr after = allocate(granule, handle);  // mapped twice
  EXPECT_EQ(cuMemUnmap(before, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(before, granule), CUDA_SUCCESS);
  std::uint8_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, after + granule - 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(value, 5U);
  end(after, granule, handle);
}

TEST_F(DriverVirtualMemory, NeighborsAreOneRange) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer has the addresses that could be chosen";
#endif
  const auto low = create(granule);
  const auto high = create(granule);
  const CUdeviceptr first = allocate(granule, low);
  const CUdeviceptr second = reserve(granule, first + granule);
  ASSERT_EQ(second, first + granule);
  ASSERT_EQ(cuMemMap(second, granule, 0, high, 0), CUDA_SUCCESS);
  std::vector<std::uint8_t> bytes(2 * granule);
  EXPECT_EQ(cuMemcpyDtoH_v2(bytes.data(), first, bytes.size()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(run("load", second), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(allow(first, 2 * granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 0), CUDA_SUCCESS);
  EXPECT_EQ(run("store", second), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8_v2(first, 3, 2 * granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(bytes.data(), first, bytes.size()), CUDA_SUCCESS);
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(2 * granule, 3));
  EXPECT_EQ(cuMemUnmap(first, granule + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(first, 2 * granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(first, 2 * granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(first, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(second, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(low), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(high), CUDA_SUCCESS);
}

TEST_F(DriverVirtualMemory, AccessIsWhatWasGiven) {
  const auto handle = create(granule);
  const CUdeviceptr address = reserve(granule);
  ASSERT_EQ(cuMemMap(address, granule, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(run("load", address), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("cuMemSetAccess"), std::string::npos) << newest_log();
  EXPECT_EQ(cuMemsetD8_v2(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(address, granule, CU_MEM_ACCESS_FLAGS_PROT_READ, 0), CUDA_SUCCESS);
  EXPECT_EQ(run("load", address), CUDA_SUCCESS);
  EXPECT_EQ(run("store", address), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(allow(address, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 0), CUDA_SUCCESS);
  EXPECT_EQ(run("store", address), CUDA_SUCCESS);
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  unsigned long long flags = 0;
  EXPECT_EQ(cuMemGetAccess(&flags, &here, address + 5), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(allow(address, granule, CU_MEM_ACCESS_FLAGS_PROT_NONE, 0), CUDA_SUCCESS);
  EXPECT_EQ(run("load", address), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemGetAccess(&flags, &here, address), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(cuMemGetAccess(&flags, &here, address + granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(address, granule / 2, CU_MEM_ACCESS_FLAGS_PROT_READ, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(address, granule, static_cast<CUmemAccess_flags>(2), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(address, granule, CU_MEM_ACCESS_FLAGS_PROT_READ, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(allow(address, granule, CU_MEM_ACCESS_FLAGS_PROT_READ, 0, CU_MEM_LOCATION_TYPE_HOST),
            CUDA_ERROR_INVALID_VALUE);
  end(address, granule, handle);
}

TEST_F(DriverVirtualMemory, TheHostReachesItsOwnMemory) {
  const auto handle =
      create(granule, properties(CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_HOST));
  EXPECT_EQ(free_bytes(), free_before);
  const CUdeviceptr address = allocate(granule, handle);
  EXPECT_EQ(
      allow(address, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 0, CU_MEM_LOCATION_TYPE_HOST),
      CUDA_SUCCESS);
  EXPECT_EQ(run("store", address), CUDA_SUCCESS);
  auto* const host = reinterpret_cast<std::uint32_t*>(static_cast<std::uintptr_t>(address));
  EXPECT_EQ(*host, 7U);
  *host = 8;
  std::uint32_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 8U);
  end(address, granule, handle);
}

TEST_F(DriverVirtualMemory, WrongCallsChangeNothing) {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  CUmemAllocationProp wanted = properties();
  EXPECT_EQ(cuMemCreate(&handle, granule + 1, &wanted, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, 0, &wanted, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, granule, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, std::size_t{1} << 44U, &wanted, 0), CUDA_ERROR_OUT_OF_MEMORY);
  wanted.location.id = 99;
  EXPECT_EQ(cuMemCreate(&handle, granule, &wanted, 0), CUDA_ERROR_INVALID_DEVICE);
  wanted = properties(CU_MEM_HANDLE_TYPE_FABRIC);
  EXPECT_EQ(cuMemCreate(&handle, granule, &wanted, 0), CUDA_ERROR_NOT_SUPPORTED);
  wanted = properties();
  wanted.allocFlags.gpuDirectRDMACapable = 1;
  EXPECT_EQ(cuMemCreate(&handle, granule, &wanted, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemAddressReserve(&address, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&address, granule, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&address, std::size_t{1} << 60U, 0, 0, 0),
            CUDA_ERROR_OUT_OF_MEMORY);
  handle = create(granule);
  address = reserve(2 * granule);
  EXPECT_EQ(cuMemMap(address, granule, 0, handle + 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(address + 4096, granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(address, 2 * granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(address, granule, granule, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(address + 2 * granule, granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(0, granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(address, granule, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(address, granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(address, 2 * granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(address, 2 * granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(address, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(address, granule), CUDA_ERROR_INVALID_VALUE);
  std::array<char, 8> host{};
  EXPECT_EQ(cuMemcpy(reinterpret_cast<std::uintptr_t>(host.data()), address, host.size()),
            CUDA_ERROR_INVALID_VALUE);  // reserved, and neither mapped nor the host's
  EXPECT_EQ(cuMemAddressFree(address, granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(address, 2 * granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(address, 2 * granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverVirtualMemory, HandlesAreCounted) {
  const auto handle = create(granule);
  const CUdeviceptr address = allocate(granule, handle);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);  // the mapping keeps it
  EXPECT_EQ(run("store", address), CUDA_SUCCESS);
  CUmemGenericAllocationHandle retained = 0;
  void* const place = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address + 1));
  EXPECT_EQ(cuMemRetainAllocationHandle(&retained, place), CUDA_SUCCESS);
  CUmemGenericAllocationHandle again = 0;
  EXPECT_EQ(cuMemRetainAllocationHandle(&again, place), CUDA_SUCCESS);
  EXPECT_EQ(again, retained);
  EXPECT_EQ(cuMemRelease(again), CUDA_SUCCESS);
  CUmemAllocationProp got{};
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&got, retained), CUDA_SUCCESS);
  EXPECT_EQ(got.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  end(address, granule, retained);
  EXPECT_EQ(cuMemRetainAllocationHandle(&retained, place), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&got, retained), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverVirtualMemory, DescriptorsAreTheSameMemory) {
  const auto handle = create(granule, properties(descriptor_type));
  const CUdeviceptr address = allocate(granule, handle);
  int descriptor = -1;
  ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, handle, descriptor_type, 0), CUDA_SUCCESS);
  const auto shareable = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_EQ(cuMemImportFromShareableHandle(&imported, shareable, descriptor_type), CUDA_SUCCESS);
  close(descriptor);
  EXPECT_EQ(free_bytes(), free_before - granule);
  const CUdeviceptr other = allocate(granule, imported);
  EXPECT_EQ(run("store", address), CUDA_SUCCESS);
  std::uint32_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, other, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 7U);
  end(other, granule, imported);
  end(address, granule, handle);
}

TEST_F(DriverVirtualMemory, ForeignDescriptorsAreRefused) {
  const auto import = [](int descriptor) {
    CUmemGenericAllocationHandle handle = 0;
    const auto shareable = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    return cuMemImportFromShareableHandle(&handle, shareable, descriptor_type);
  };
  EXPECT_EQ(import(-1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(import(12345), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(import(STDIN_FILENO), CUDA_ERROR_INVALID_VALUE);
  const int forged = memfd_create("cudacore memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(forged, granule), 0);
  EXPECT_EQ(import(forged), CUDA_ERROR_INVALID_VALUE);  // no seals: it could shrink
  ASSERT_EQ(fcntl(forged, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_EQ(import(forged), CUDA_ERROR_INVALID_VALUE);  // and no note
  close(forged);
  const auto secret = create(granule);
  int descriptor = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, secret, descriptor_type, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(secret), CUDA_SUCCESS);
}

TEST_F(DriverVirtualMemory, AttributesOfPointers) {
  const auto handle = create(granule, properties(descriptor_type));
  const CUdeviceptr address = allocate(granule, handle);
  std::uint64_t types = 0;
  EXPECT_EQ(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address),
            CUDA_SUCCESS);
  EXPECT_EQ(types, static_cast<std::uint64_t>(descriptor_type));
  int device = -1;
  EXPECT_EQ(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address + 9),
            CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  end(address, granule, handle);
}

TEST_F(DriverVirtualMemory, QueuedCopiesOutliveTheMapping) {
  const auto handle = create(granule);
  const CUdeviceptr address = allocate(granule, handle);
  CUstream stream = make_stream();
  Gate gate(stream);
  ASSERT_EQ(cuMemsetD8Async(address, 1, granule, stream), CUDA_SUCCESS);
  end(address, granule, handle);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cudacore::simulator
