// SPDX-License-Identifier: Apache-2.0
#include "cudacore/memory_resource.hpp"

#include <limits>
#include <vector>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"
#include "runtime/pool_shares.hpp"

namespace cudacore {
namespace {

/// @throw NotSupportedError if a device's driver shares no pools by file descriptors.
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

CUmemPoolProps properties(CUmemAllocationType type, CUmemLocationType location, int id,
                          std::size_t max_size, bool ipc_enabled = false) {
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
  call.check(call.api().cuMemPoolCreate(&pool, &props), "cuMemPoolCreate", place);
  box->pool = pool;
  box->owned = true;
  return box;
}

/// Keeps freed memory in the pool instead of returning it to the system at the next
/// synchronization.
void keep_freed_memory(const ContextCall& call, const owner::PoolBox& pool,
                       const std::string& place) {
  cuuint64_t threshold = std::numeric_limits<cuuint64_t>::max();
  call.check(
      call.api().cuMemPoolSetAttribute(pool.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
      "cuMemPoolSetAttribute", place);
}

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
                       properties(CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
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
      properties(CU_MEM_ALLOCATION_TYPE_PINNED,
                 options.numa_id ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_HOST,
                 options.numa_id.value_or(0), options.max_size, options.ipc_enabled),
      place);
  open_to_all(call, *pool, place);
  keep_freed_memory(call, *pool, place);
  return pool;
}

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
        call, properties(CU_MEM_ALLOCATION_TYPE_MANAGED, location.type, location.id, 0), place);
  }
  keep_freed_memory(call, *pool, place);
  return pool;
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

std::shared_ptr<owner::PoolBox> import_device_pool(Device device, PoolDescriptor descriptor) {
  const ContextCall call(error::primary_context(device.id()));
  return import_pool(call, descriptor, error::describe_device(device.id()));
}

std::shared_ptr<owner::PoolBox> import_pinned_pool(PoolDescriptor descriptor) {
  const ContextCall call(error::current_context());
  const std::string place = "page-locked host memory";
  auto pool = import_pool(call, descriptor, place);
  open_to_all(call, *pool, place);
  return pool;
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

PinnedMemoryResource::PinnedMemoryResource(PinnedMemoryResourceOptions options)
    : PoolMemoryResource(pinned_pool(options = resolve(options)),
                         shares_of_new(options.ipc_enabled)),
      numa_id_(options.numa_id.value_or(-1)) {}

PinnedMemoryResource::PinnedMemoryResource(PoolDescriptor descriptor)
    : PoolMemoryResource(import_pinned_pool(descriptor), std::make_shared<PoolShares>(true)),
      numa_id_(-1) {}

ManagedMemoryResource::ManagedMemoryResource(ManagedMemoryResourceOptions options)
    : PoolMemoryResource(managed_pool(options = resolve(options)), nullptr), options_(options) {}

int ManagedMemoryResource::device_id() const {
  return options_.preferred_location_type == ManagedLocation::device
             ? options_.preferred_location.value_or(-1)
             : -1;
}

}  // namespace cudacore
