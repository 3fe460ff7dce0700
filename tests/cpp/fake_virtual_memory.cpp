// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "fake_driver.hpp"

namespace cudacore::testing {

/// Addresses and memory that are only numbers. What is mapped is entered one byte behind its
/// address, where no range begins.
struct FakeVirtualMemory {
  static constexpr std::size_t granularity = std::size_t{2} << 20U;

  static FakeDriver& fake() { return FakeDriver::get(); }
  static const void* entry(CUdeviceptr address) {
    return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
  }
  static std::uintptr_t next(std::size_t size) {
    const std::scoped_lock lock(fake().mutex_);
    fake().next_handle_ += 16;
    return std::exchange(fake().next_handle_, fake().next_handle_ + size);
  }
  static bool is_free(CUdeviceptr address) {
    const std::scoped_lock lock(fake().mutex_);
    return !fake().ledger_.contains(entry(address));
  }
  static CUresult end(const char* function, const char* kind, CUdeviceptr address) {
    const CUresult fault = fake().enter(function);
    if (!fake().remove(kind, entry(address))) return CUDA_ERROR_INVALID_VALUE;
    return fault;
  }

  static CUresult get_granularity(std::size_t* size, const CUmemAllocationProp*,
                                  CUmemAllocationGranularity_flags) {
    *size = granularity;
    return fake().enter("cuMemGetAllocationGranularity");
  }
  static CUresult reserve(CUdeviceptr* address, std::size_t size, std::size_t, CUdeviceptr hint,
                          unsigned long long) {
    if (const CUresult fault = fake().enter("cuMemAddressReserve")) return fault;
    const bool is_heeded = hint != 0 && fake().heeds_hints && is_free(hint);
    *address = is_heeded ? hint : next(64 * size + granularity);
    fake().add("range", entry(*address));
    return CUDA_SUCCESS;
  }
  static CUresult create(CUmemGenericAllocationHandle* handle, std::size_t,
                         const CUmemAllocationProp*, unsigned long long) {
    if (const CUresult fault = fake().enter("cuMemCreate")) return fault;
    *handle = next(0);
    fake().add("physical memory", entry(*handle));
    return CUDA_SUCCESS;
  }
  static CUresult export_to(void* shareable, CUmemGenericAllocationHandle,
                            CUmemAllocationHandleType, unsigned long long) {
    if (const CUresult fault = fake().enter("cuMemExportToShareableHandle")) return fault;
    *static_cast<int*>(shareable) = dup(STDERR_FILENO);
    return CUDA_SUCCESS;
  }
  static CUresult import_from(CUmemGenericAllocationHandle* handle, void*,
                              CUmemAllocationHandleType) {
    if (const CUresult fault = fake().enter("cuMemImportFromShareableHandle")) return fault;
    *handle = next(0);
    fake().add("physical memory", entry(*handle));
    return CUDA_SUCCESS;
  }
  static CUresult get_properties(CUmemAllocationProp* properties,
                                 CUmemGenericAllocationHandle handle) {
    if (const CUresult fault = fake().enter("cuMemGetAllocationPropertiesFromHandle")) return fault;
    if (is_free(handle)) return CUDA_ERROR_INVALID_VALUE;
    properties->location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    return CUDA_SUCCESS;
  }
  static CUresult map(CUdeviceptr address, std::size_t, std::size_t,
                      CUmemGenericAllocationHandle handle, unsigned long long) {
    if (const CUresult fault = fake().enter("cuMemMap")) return fault;
    if (is_free(handle) || !is_free(address + 1)) return CUDA_ERROR_INVALID_VALUE;
    fake().add("mapping", entry(address + 1));
    return CUDA_SUCCESS;
  }
  static CUresult set_access(CUdeviceptr, std::size_t, const CUmemAccessDesc* entries,
                             std::size_t count) {
    if (const CUresult fault = fake().enter("cuMemSetAccess")) return fault;
    fake().last_access.assign(entries, entries + count);
    return CUDA_SUCCESS;
  }
};

void fill_virtual_memory(driver::DriverApi& table) {
  using Fake = FakeVirtualMemory;
  table.cuMemGetAllocationGranularity = &Fake::get_granularity;
  table.cuMemAddressReserve = &Fake::reserve;
  table.cuMemCreate = &Fake::create;
  table.cuMemExportToShareableHandle = &Fake::export_to;
  table.cuMemImportFromShareableHandle = &Fake::import_from;
  table.cuMemGetAllocationPropertiesFromHandle = &Fake::get_properties;
  table.cuMemMap = &Fake::map;
  table.cuMemSetAccess = &Fake::set_access;
  table.cuMemAddressFree = [](CUdeviceptr address, std::size_t) {
    return Fake::end("cuMemAddressFree", "range", address);
  };
  table.cuMemUnmap = [](CUdeviceptr address, std::size_t) {
    return Fake::end("cuMemUnmap", "mapping", address + 1);
  };
  table.cuMemRelease = [](CUmemGenericAllocationHandle handle) {
    return Fake::end("cuMemRelease", "physical memory", handle);
  };
}

}  // namespace cudacore::testing
