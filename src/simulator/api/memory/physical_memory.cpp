// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/physical_memory.hpp"

#include <algorithm>
#include <utility>

#include "simulator/api/entry.hpp"

namespace cudacore::simulator {

PhysicalMemory::~PhysicalMemory() {
  if (is_charged) device->memory.discharge(size());
}

MemoryHandles& MemoryHandles::instance() noexcept {
  static MemoryHandles& one = *std::make_unique<MemoryHandles>().release();
  return one;
}

CUmemGenericAllocationHandle MemoryHandles::give(const std::shared_ptr<PhysicalMemory>& memory) {
  const std::scoped_lock lock(mutex_);
  for (auto& [handle, entry] : entries_) {
    if (entry.memory != memory) continue;
    ++entry.references;
    return handle;
  }
  std::erase_if(known_, [](const std::weak_ptr<PhysicalMemory>& one) { return one.expired(); });
  const bool is_known = std::any_of(known_.begin(), known_.end(),
                                    [&](const auto& one) { return one.lock() == memory; });
  if (!is_known) known_.push_back(memory);
  entries_.emplace(next_, Entry{memory, 1});
  return next_++;
}

std::shared_ptr<PhysicalMemory> MemoryHandles::find(CUmemGenericAllocationHandle handle) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(handle);
  return found != entries_.end() ? found->second.memory : nullptr;
}

std::shared_ptr<PhysicalMemory> MemoryHandles::find(const MemoryFile& file) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& known : known_) {
    std::shared_ptr<PhysicalMemory> memory = known.lock();
    if (memory != nullptr && memory->file->is_same(file)) return memory;
  }
  return nullptr;
}

bool MemoryHandles::release(CUmemGenericAllocationHandle handle) {
  std::shared_ptr<PhysicalMemory> last;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(handle);
  if (found == entries_.end()) return false;
  if (--found->second.references != 0) return true;
  last = std::move(found->second.memory);
  entries_.erase(found);
  return true;
}

CUresult find_location(const CUmemLocation& location, Device*& device) {
  device = nullptr;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      device = find_device(location.id);
      return device != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == 0
                 ? CUDA_SUCCESS
                 : refuse(CUDA_ERROR_INVALID_VALUE, "the host has only NUMA node 0 here");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

namespace {

/// What a note's kind says of a file.
constexpr std::int32_t physical_kind = 1;

CUresult check(const CUmemAllocationProp& properties, Device*& device) {
  if (properties.type == CU_MEM_ALLOCATION_TYPE_MANAGED) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "physical memory that is managed is not simulated");
  }
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties.win32HandleMetaData != nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int types = properties.requestedHandleTypes;
  if ((types & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "memory is shared by file descriptors alone here");
  }
  if (properties.allocFlags.gpuDirectRDMACapable != 0 || properties.allocFlags.usage != 0) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "GPUDirect RDMA and tile pools are not simulated");
  }
  return find_location(properties.location, device);
}

CUresult create(CUmemGenericAllocationHandle* handle, std::size_t size,
                const CUmemAllocationProp* properties, unsigned long long flags) {
  if (handle == nullptr || properties == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto memory = std::make_shared<PhysicalMemory>();
  const CUresult status = check(*properties, memory->device);
  if (status != CUDA_SUCCESS) return status;
  if (size == 0 || size % mapping_granule != 0) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the size is not a multiple of the granularity, 2 MiB");
  }
  memory->properties = *properties;
  MemoryFileNote note;
  note.kind = physical_kind;
  note.place = properties->location.type;
  note.device = memory->device != nullptr ? memory->device->physical : -1;
  note.flags = properties->requestedHandleTypes;
  memory->file = MemoryFile::create(size, note);
  if (memory->file == nullptr) {
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host has too little memory");
  }
  if (memory->device != nullptr) {
    if (!memory->device->memory.charge(size)) {
      return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too little memory is free");
    }
    memory->is_charged = true;
  }
  *handle = MemoryHandles::instance().give(memory);
  return CUDA_SUCCESS;
}

/// Memory that another process, or this one, exported.
std::shared_ptr<PhysicalMemory> import_file(int descriptor) {
  auto memory = std::make_shared<PhysicalMemory>();
  memory->file = MemoryFile::open(descriptor);
  if (memory->file == nullptr) return nullptr;
  if (auto own = MemoryHandles::instance().find(*memory->file)) return own;
  const MemoryFileNote& note = memory->file->note();
  if (note.kind != physical_kind || note.size % mapping_granule != 0 ||
      note.flags != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return nullptr;
  }
  const auto& devices = registry().devices;
  const auto device = std::find_if(devices.begin(), devices.end(),
                                   [&](const auto& one) { return one->physical == note.device; });
  const bool is_on_device = note.place == CU_MEM_LOCATION_TYPE_DEVICE;
  if (is_on_device && device == devices.end()) return nullptr;
  CUmemAllocationProp& properties = memory->properties;
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = static_cast<CUmemLocationType>(note.place);
  properties.location.id = is_on_device ? (*device)->ordinal : 0;
  return find_location(properties.location, memory->device) == CUDA_SUCCESS ? memory : nullptr;
}

template <class Body>
CUresult memory_call(CUmemGenericAllocationHandle handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<PhysicalMemory> memory = MemoryHandles::instance().find(handle);
    if (memory == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the handle is not one of live memory");
    }
    return body(*memory);
  });
}

}  // namespace

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* granularity,
                                       const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return driver_call([&] {
    if (granularity == nullptr || properties == nullptr ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Device* device = nullptr;
    const CUresult status = check(*properties, device);
    if (status == CUDA_SUCCESS) *granularity = mapping_granule;
    return status;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return driver_call([&] { return create(handle, size, properties, flags); });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver_call([&] {
    if (MemoryHandles::instance().release(handle)) return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_VALUE, "the handle is not one of live memory");
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return memory_call(handle, [&](const PhysicalMemory& memory) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = memory.properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return memory_call(handle, [&](const PhysicalMemory& memory) {
    if (shareable == nullptr || flags != 0 || type == CU_MEM_HANDLE_TYPE_NONE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if ((memory.properties.requestedHandleTypes & type) == 0) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemCreate was not asked for handles of this type");
    }
    const int descriptor = memory.file->duplicate();
    if (descriptor < 0) return refuse(CUDA_ERROR_OPERATING_SYSTEM, "no file descriptor is free");
    *static_cast<int*>(shareable) = descriptor;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  return driver_call([&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "memory is shared by file descriptors alone here");
    }
    // The descriptor itself, not a pointer to it.
    const auto memory = import_file(static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)));
    if (memory == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "the file descriptor is not one of memory of a device that is visible here");
    }
    *handle = MemoryHandles::instance().give(memory);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
