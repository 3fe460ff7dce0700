// SPDX-License-Identifier: Apache-2.0
#include "cudacore/pinned_memory_resource.hpp"

#include <vector>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/pool_creation.hpp"

namespace cudacore {
namespace {

/// Lets every device access a pool of host memory.
void open_to_all(const ContextCall& call, const owner::PoolBox& pool, const std::string& place) {
  std::vector<CUmemAccessDesc> access;
  for (int i = 0; i < Device::count(); ++i) {
    CUmemAccessDesc entry{};
    entry.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    entry.location.id = i;
    entry.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access.push_back(entry);
  }
  call.check(call.api().cuMemPoolSetAccess(pool.pool, access.data(), access.size()),
             "cuMemPoolSetAccess", place);
}

/// The options, with the NUMA node that is implied for a pool that processes share.
PinnedMemoryResourceOptions resolve(PinnedMemoryResourceOptions options) {
  if (!options.ipc_enabled || options.numa_id) return options;
  const Device device = Device::current();
  const int node = device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
  if (node < 0) {
    throw NotSupportedError("PinnedMemoryResourceOptions.ipc_enabled needs a NUMA node, and " +
                            error::describe_device(device.id()) +
                            " has none of the host (host_numa_id is " + std::to_string(node) +
                            "): give numa_id");
  }
  options.numa_id = node;
  return options;
}

std::shared_ptr<owner::PoolBox> pinned_pool(const PinnedMemoryResourceOptions& options) {
  const ContextCall call(error::current_context());
  const Device device = Device::from_known_ordinal(call.context()->device);
  const CUdevice_attribute needed = options.numa_id
                                        ? CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED
                                        : CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED;
  if (device.attribute(needed) == 0) {
    throw NotSupportedError(
        std::string("this driver or device has no pools of host memory (") +
        (options.numa_id ? "host_numa_memory_pools_supported" : "host_memory_pools_supported") +
        " is 0 on " + error::describe_device(device.id()) + "): use LegacyPinnedMemoryResource");
  }
  if (options.ipc_enabled) require_shared_pools(device, "PinnedMemoryResourceOptions.ipc_enabled");
  const std::string place = options.numa_id
                                ? "the host's NUMA node " + std::to_string(*options.numa_id)
                                : std::string("page-locked host memory");
  auto pool = create_pool(
      call,
      pool_properties(CU_MEM_ALLOCATION_TYPE_PINNED,
                      options.numa_id ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_HOST,
                      options.numa_id.value_or(0), options.max_size, options.ipc_enabled),
      place);
  open_to_all(call, *pool, place);
  keep_freed_memory(call, *pool, place);
  return pool;
}

std::shared_ptr<owner::PoolBox> import_pinned_pool(PoolDescriptor descriptor) {
  const ContextCall call(error::current_context());
  const std::string place = "page-locked host memory";
  auto pool = import_pool(call, descriptor, place);
  open_to_all(call, *pool, place);
  return pool;
}

}  // namespace

PinnedMemoryResource::PinnedMemoryResource(PinnedMemoryResourceOptions options)
    : PoolMemoryResource(pinned_pool(options = resolve(options)),
                         shares_of_new(options.ipc_enabled)),
      numa_id_(options.numa_id.value_or(-1)) {}

PinnedMemoryResource::PinnedMemoryResource(PoolDescriptor descriptor)
    : PoolMemoryResource(import_pinned_pool(descriptor), std::make_shared<PoolShares>(true)),
      numa_id_(-1) {}

}  // namespace cudacore
