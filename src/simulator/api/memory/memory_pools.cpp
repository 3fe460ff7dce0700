// SPDX-License-Identifier: Apache-2.0
//
// Memory pools: creating, finding and configuring them.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>

#include "simulator/api/memory/memory_pool.hpp"
#include "simulator/api/stream/stream.hpp"
#include "simulator/api/system/configuration.hpp"

namespace cudacore::simulator {

namespace {

/// A call on a pool: CUresult body(MemoryPool&).
template <class Body>
CUresult pool_call(CUmemoryPool handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<MemoryPool> pool = registry().pools.find(handle);
    if (pool == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the handle is not one of a live memory pool");
    }
    return body(pool);
  });
}

/// Whether memory of the type can be at the location; returns the device if the location is one.
CUresult check_location(const CUmemLocation& location, CUmemAllocationType type, Device*& device) {
  device = nullptr;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_NONE:
      return type == CU_MEM_ALLOCATION_TYPE_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_DEVICE:
      device = find_device(location.id);
      return device != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == 0
                 ? CUDA_SUCCESS
                 : refuse(CUDA_ERROR_INVALID_VALUE, "the host has only NUMA node 0 here");
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// Pools that exist without being created, by type and location, except the devices' own.
struct DriverPools {
  struct Pools {
    std::shared_ptr<MemoryPool> usual;
    std::shared_ptr<MemoryPool> current;
  };
  std::mutex mutex;
  std::map<std::tuple<CUmemAllocationType, CUmemLocationType, int>, Pools> pools;

  static DriverPools& instance() {
    static DriverPools& one = *std::make_unique<DriverPools>().release();
    return one;
  }

  /// The mutex must be held.
  Pools& find(const CUmemLocation& location, CUmemAllocationType type, Device* device) {
    const bool numbered = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                          location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    Pools& found = pools[{type, location.type, numbered ? location.id : 0}];
    if (found.usual == nullptr) {
      CUmemPoolProps properties{};
      properties.allocType = type;
      properties.location = location;
      found.usual = MemoryPool::create(properties, device, true);
    }
    return found;
  }
};

bool is_device_memory(const CUmemLocation& location, CUmemAllocationType type) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED;
}

CUresult get_pool(CUmemoryPool* handle, const CUmemLocation* location, CUmemAllocationType type,
                  bool usual) {
  return driver_call([&] {
    if (handle == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Device* device = nullptr;
    const CUresult status = check_location(*location, type, device);
    if (status != CUDA_SUCCESS) return status;
    if (is_device_memory(*location, type)) {
      *handle = (usual ? default_pool(*device) : current_pool(*device))->handle;
      return CUDA_SUCCESS;
    }
    DriverPools& driver = DriverPools::instance();
    const std::scoped_lock lock(driver.mutex);
    const DriverPools::Pools& pools = driver.find(*location, type, device);
    *handle = (usual || pools.current == nullptr ? pools.usual : pools.current)->handle;
    return CUDA_SUCCESS;
  });
}

CUresult set_device_pool(Device& device, const std::shared_ptr<MemoryPool>& pool) {
  if (pool->device != &device || pool->properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the pool is not one of the device's memory");
  }
  if (pool->is_imported()) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "an imported pool allocates nothing");
  }
  const std::scoped_lock lock(device.mutex);
  device.current_pool = pool;
  return CUDA_SUCCESS;
}

/// Wherever the pool was current, the location's own pool becomes current again.
void forget_pool(const MemoryPool& pool) {
  std::shared_ptr<MemoryPool> dropped;  // destroyed after the locks are released
  if (pool.device != nullptr) {
    const std::scoped_lock lock(pool.device->mutex);
    if (pool.device->current_pool.get() == &pool) dropped = std::move(pool.device->current_pool);
  }
  DriverPools& driver = DriverPools::instance();
  const std::scoped_lock lock(driver.mutex);
  for (auto& [location, pools] : driver.pools) {
    if (pools.current.get() == &pool) dropped = std::move(pools.current);
  }
}

/// By reader; guarded by the reader's lock.
constinit std::array<std::uint64_t, max_devices> open_devices{};

/// Lets kernels on a device access what a pool of another device contains.
void open_to(const MemoryPool& pool, Device& reader) {
  if (pool.device == nullptr || pool.device == &reader) return;
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(pool.device->ordinal);
  const std::scoped_lock lock(reader.mutex);
  open_devices.at(static_cast<std::size_t>(reader.ordinal)) |= bit;
  if (reader.primary != nullptr) reader.primary->readable_devices |= bit;
}

}  // namespace

std::uint64_t devices_open_to(const Device& reader) noexcept {
  return open_devices[static_cast<std::size_t>(reader.ordinal)];
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  return get_pool(pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED, true);
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  return get_pool(pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED, false);
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return set_device_pool(*device, pool);
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                CUmemAllocationType type) {
  return get_pool(pool, location, type, true);
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return get_pool(pool, location, type, false);
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Device* device = nullptr;
    const CUresult status = check_location(*location, type, device);
    if (status != CUDA_SUCCESS) return status;
    if (is_device_memory(*location, type)) return set_device_pool(*device, pool);
    if (pool->properties.allocType != type || pool->properties.location.type != location->type ||
        pool->device != device || pool->is_imported()) {
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "the pool is one of another location or type, or imported");
    }
    DriverPools& driver = DriverPools::instance();
    const std::scoped_lock lock(driver.mutex);
    driver.find(*location, type, device).current = pool;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
  return driver_call([&] {
    if (handle == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Device* device = nullptr;
    const CUresult status = check_location(properties->location, properties->allocType, device);
    if (status != CUDA_SUCCESS) return status;
    std::shared_ptr<PoolFile> file;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
      const CUresult made = make_pool_file(*properties, device, file);
      if (made != CUDA_SUCCESS) return made;
    }
    *handle = MemoryPool::create(*properties, device, false, std::move(file))->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    if (pool->is_default) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "a default memory pool can't be destroyed");
    }
    forget_pool(*pool);
    return registry().pools.erase(handle) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    return value != nullptr ? pool->get_attribute(attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    return value != nullptr ? pool->set_attribute(attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    pool->trim(keep);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* entries,
                            std::size_t count) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    if (entries == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
    const std::span all(entries, count);
    for (const CUmemAccessDesc& entry : all) {
      const bool is_host = entry.location.type == CU_MEM_LOCATION_TYPE_HOST ||
                           entry.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
      if (is_host && pool->device == nullptr) continue;
      if (entry.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
      const Device* device = find_device(entry.location.id);
      if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
      if (device == pool->device && entry.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "a device's access to its own pool stays as it is");
      }
      if (entry.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
          entry.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    for (const CUmemAccessDesc& entry : all) {
      if (entry.location.type != CU_MEM_LOCATION_TYPE_DEVICE) continue;
      Device& device = *find_device(entry.location.id);
      pool->set_access(device, entry.flags);
      if (entry.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) open_to(*pool, device);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                            CUmemLocation* location) {
  return pool_call(handle, [&](const std::shared_ptr<MemoryPool>& pool) {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
      const bool is_host = location->type == CU_MEM_LOCATION_TYPE_HOST ||
                           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
      if (!is_host) return CUDA_ERROR_INVALID_VALUE;
      *flags = pool->device == nullptr ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                       : CU_MEM_ACCESS_FLAGS_PROT_NONE;
      return CUDA_SUCCESS;
    }
    const Device* device = find_device(location->id);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *flags = pool->access(*device);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
