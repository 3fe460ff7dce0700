// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool_creation.hpp"

#include <limits>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "owner/end_scope.hpp"

namespace cudacore {

void require_shared_pools(Device device, const char* option) {
  const int types = device.attribute(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES);
  if ((types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) return;
  throw NotSupportedError(std::string(option) + ": " + error::describe_device(device.id()) +
                          " shares no memory pools with other processes by file descriptors "
                          "(mempool_supported_handle_types is " +
                          std::to_string(types) + ")");
}

std::shared_ptr<PoolShares> shares_of_new(bool ipc_enabled) {
  return ipc_enabled ? std::make_shared<PoolShares>(false) : nullptr;
}

CUmemPoolProps pool_properties(CUmemAllocationType type, CUmemLocationType location, int id,
                               std::size_t max_size, bool ipc_enabled) {
  CUmemPoolProps props{};
  props.allocType = type;
  props.handleTypes =
      ipc_enabled ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
  props.location.type = location;
  props.location.id = id;
  props.maxSize = max_size;
  return props;
}

std::shared_ptr<owner::PoolBox> create_pool(const ContextCall& call, const CUmemPoolProps& props,
                                            const std::string& place) {
  auto box = std::make_shared<owner::PoolBox>();
  CUmemoryPool pool = nullptr;
  const owner::OutsideCaptures outside(call.api());
  call.check(call.api().cuMemPoolCreate(&pool, &props), "cuMemPoolCreate", place);
  box->pool = pool;
  box->owned = true;
  return box;
}

std::shared_ptr<owner::PoolBox> import_pool(const ContextCall& call, PoolDescriptor descriptor,
                                            const std::string& place) {
  if (descriptor.number < 0) {
    throw std::invalid_argument("a memory pool is imported from a file descriptor, not " +
                                std::to_string(descriptor.number));
  }
  auto box = std::make_shared<owner::PoolBox>();
  CUmemoryPool pool = nullptr;
  // The descriptor itself is what the driver takes for a pointer.
  void* const handle =
      reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor.number));  // NOLINT
  call.check(call.api().cuMemPoolImportFromShareableHandle(
                 &pool, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
             "cuMemPoolImportFromShareableHandle", place);
  box->pool = pool;
  box->owned = true;
  return box;
}

void keep_freed_memory(const ContextCall& call, const owner::PoolBox& pool,
                       const std::string& place) {
  const owner::OutsideCaptures outside(call.api());
  cuuint64_t threshold = std::numeric_limits<cuuint64_t>::max();
  call.check(
      call.api().cuMemPoolSetAttribute(pool.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
      "cuMemPoolSetAttribute", place);
}

}  // namespace cudacore
