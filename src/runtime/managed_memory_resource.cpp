// SPDX-License-Identifier: Apache-2.0
#include "cudacore/managed_memory_resource.hpp"

#include <stdexcept>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/pool_creation.hpp"

namespace cudacore {
namespace {

/// The options, with the type that is implied if only a location is set, and the NUMA node that is
/// implied if only a type is set.
ManagedMemoryResourceOptions resolve(ManagedMemoryResourceOptions options) {
  std::optional<int>& location = options.preferred_location;
  if (options.preferred_location_type == ManagedLocation::none && location) {
    if (*location < -1) {
      throw std::invalid_argument(
          "ManagedMemoryResourceOptions.preferred_location must be a device, or -1 for the host, "
          "not " +
          std::to_string(*location));
    }
    options.preferred_location_type =
        *location == -1 ? ManagedLocation::host : ManagedLocation::device;
    if (*location == -1) location.reset();
  } else if (options.preferred_location_type == ManagedLocation::host_numa && !location) {
    location = Device::current().attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
    if (*location < 0) {
      throw NotSupportedError("the current device has no NUMA node of the host (host_numa_id is " +
                              std::to_string(*location) +
                              "): name one with ManagedMemoryResourceOptions.preferred_location");
    }
  }
  return options;
}

CUmemLocation managed_location(const ManagedMemoryResourceOptions& options) {
  const bool has_place = options.preferred_location.has_value();
  CUmemLocation location{};
  switch (options.preferred_location_type) {
    case ManagedLocation::none:
      location.type = CU_MEM_LOCATION_TYPE_NONE;
      break;
    case ManagedLocation::host:
      if (has_place) {
        throw std::invalid_argument(
            "ManagedMemoryResourceOptions: the host has no number; use the type host_numa for a "
            "NUMA node");
      }
      location.type = CU_MEM_LOCATION_TYPE_HOST;
      break;
    case ManagedLocation::device:
    case ManagedLocation::host_numa: {
      const bool is_device = options.preferred_location_type == ManagedLocation::device;
      if (!has_place || *options.preferred_location < 0) {
        throw std::invalid_argument(
            std::string("ManagedMemoryResourceOptions.preferred_location must name ") +
            (is_device ? "a device" : "a NUMA node"));
      }
      location.type = is_device ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_HOST_NUMA;
      location.id =
          is_device ? Device(*options.preferred_location).id() : *options.preferred_location;
      break;
    }
  }
  return location;
}

std::shared_ptr<owner::PoolBox> managed_pool(const ManagedMemoryResourceOptions& options) {
  const driver::DriverApi& api = driver::api();
  // Older drivers have cuMemPoolCreate, but not managed pools.
  if (api.version < 13000 || api.cuMemGetMemPool == nullptr) {
    driver::throw_missing_symbol("cuMemGetMemPool of managed memory", 13000);
  }
  CUmemLocation location = managed_location(options);
  const ContextCall call(error::current_context());
  const std::string place = "managed memory";
  std::shared_ptr<owner::PoolBox> pool;
  if (options.preferred_location_type == ManagedLocation::none) {
    pool = std::make_shared<owner::PoolBox>();
    call.check(api.cuMemGetMemPool(&pool->pool, &location, CU_MEM_ALLOCATION_TYPE_MANAGED),
               "cuMemGetMemPool", place);
  } else {
    pool = create_pool(
        call, pool_properties(CU_MEM_ALLOCATION_TYPE_MANAGED, location.type, location.id, 0),
        place);
  }
  keep_freed_memory(call, *pool, place);
  return pool;
}

}  // namespace

ManagedMemoryResource::ManagedMemoryResource(ManagedMemoryResourceOptions options)
    : PoolMemoryResource(managed_pool(options = resolve(options)), nullptr), options_(options) {}

int ManagedMemoryResource::device_id() const {
  return options_.preferred_location_type == ManagedLocation::device
             ? options_.preferred_location.value_or(-1)
             : -1;
}

}  // namespace cudacore
