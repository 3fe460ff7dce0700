// SPDX-License-Identifier: Apache-2.0
#include "cudacore/device_memory_resource.hpp"

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/pool_creation.hpp"

namespace cudacore {
namespace {

std::shared_ptr<owner::PoolBox> device_pool(
    Device device, const std::optional<DeviceMemoryResourceOptions>& options) {
  const ContextCall call(error::primary_context(device.id()));
  const std::string place = error::describe_device(device.id());
  if (device.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0) {
    throw NotSupportedError(place + " has no memory pools: use SynchronousMemoryResource");
  }
  std::shared_ptr<owner::PoolBox> pool;
  if (options) {
    if (options->ipc_enabled)
      require_shared_pools(device, "DeviceMemoryResourceOptions.ipc_enabled");
    pool = create_pool(call,
                       pool_properties(CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
                                       device.id(), options->max_size, options->ipc_enabled),
                       place);
  } else {
    pool = std::make_shared<owner::PoolBox>();
    call.check(call.api().cuDeviceGetMemPool(&pool->pool, device.id()), "cuDeviceGetMemPool",
               place);
  }
  keep_freed_memory(call, *pool, place);
  return pool;
}

std::shared_ptr<owner::PoolBox> import_device_pool(Device device, PoolDescriptor descriptor) {
  const ContextCall call(error::primary_context(device.id()));
  return import_pool(call, descriptor, error::describe_device(device.id()));
}

}  // namespace

DeviceMemoryResource::DeviceMemoryResource(
    Device device, const std::optional<DeviceMemoryResourceOptions>& options)
    : PoolMemoryResource(device_pool(device, options),
                         shares_of_new(options && options->ipc_enabled)),
      device_(device) {}

DeviceMemoryResource::DeviceMemoryResource(Device device, PoolDescriptor descriptor)
    : PoolMemoryResource(import_device_pool(device, descriptor),
                         std::make_shared<PoolShares>(true)),
      device_(device) {}

}  // namespace cudacore
