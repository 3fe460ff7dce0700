// SPDX-License-Identifier: Apache-2.0
#include "runtime/virtual_memory_options.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "cudacore/error.hpp"
#include "error/describe.hpp"

namespace cudacore {
namespace {

using Options = VirtualMemoryResourceOptions;

CUmemAccess_flags flags_of(VirtualAccess access) {
  switch (access) {
    case VirtualAccess::read:
      return CU_MEM_ACCESS_FLAGS_PROT_READ;
    case VirtualAccess::read_write:
      return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    case VirtualAccess::none:
      break;
  }
  return CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUmemAllocationHandleType handle_type(VirtualHandle handle) {
  switch (handle) {
    case VirtualHandle::posix_fd:
      return CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    case VirtualHandle::win32_kmt:
      return CU_MEM_HANDLE_TYPE_WIN32_KMT;
    case VirtualHandle::fabric:
      return CU_MEM_HANDLE_TYPE_FABRIC;
    case VirtualHandle::none:
      break;
  }
  return CU_MEM_HANDLE_TYPE_NONE;
}

CUmemLocation location(const Options& options, Device device) {
  switch (options.location_type) {
    case VirtualLocation::host:
      return {CU_MEM_LOCATION_TYPE_HOST, {0}};
    case VirtualLocation::host_numa:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA,
              {std::max(device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), 0)}};
    case VirtualLocation::host_numa_current:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, {0}};
    case VirtualLocation::device:
      break;
  }
  return {CU_MEM_LOCATION_TYPE_DEVICE, {device.id()}};
}

void require(Device device, CUdevice_attribute attribute, const char* name, const char* what) {
  if (device.attribute(attribute) != 0) return;
  throw NotSupportedError(std::string(what) + " is not supported on this device: " + name +
                          " is 0 on " + error::describe_device(device.id()));
}

void check_handle_type(const Options& options, Device device) {
  if (options.handle_type == VirtualHandle::posix_fd) {
    require(device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
            "handle_type_posix_file_descriptor_supported",
            "sharing by file descriptors (handle_type=\"posix_fd\")");
  } else if (options.handle_type == VirtualHandle::fabric) {
    require(device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
            "handle_type_fabric_supported", "sharing by fabric handles (handle_type=\"fabric\")");
  } else if (options.handle_type == VirtualHandle::win32_kmt) {
    throw NotSupportedError(
        "VirtualMemoryResourceOptions.handle_type: \"win32_kmt\" exists on Windows alone; use "
        "\"posix_fd\", or None for memory that is not shared");
  }
}

void check_location(const Options& options, Device device) {
  if (options.location_type == VirtualLocation::host) {
    require(device, CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
            "host_virtual_memory_management_supported", "virtual memory of the host");
  } else if (!is_on_device(options)) {
    require(device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
            "host_numa_virtual_memory_management_supported", "virtual memory of a NUMA node");
  }
}

void check_peers(const Options& options, Device device) {
  for (const int id : options.peers) {
    const bool is_own = is_on_device(options) && id == device.id();
    if (is_own || std::count(options.peers.begin(), options.peers.end(), id) > 1) {
      throw std::invalid_argument(
          "VirtualMemoryResourceOptions.peers names device " + std::to_string(id) +
          (is_own ? ", whose own memory it is: its access is self_access" : " twice"));
    }
    if (const Device peer(id); is_on_device(options) && !peer.can_access_peer(device)) {
      throw NotSupportedError("VirtualMemoryResourceOptions.peers: " + error::describe_device(id) +
                              " can't access memory of " + error::describe_device(device.id()));
    }
  }
}

}  // namespace

CUmemAllocationProp allocation_properties(const Options& options, Device device) {
  CUmemAllocationProp made{};
  made.type = options.allocation_type == VirtualAllocation::managed ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                                                    : CU_MEM_ALLOCATION_TYPE_PINNED;
  made.requestedHandleTypes = handle_type(options.handle_type);
  made.location = location(options, device);
  made.allocFlags.gpuDirectRDMACapable = options.gpu_direct_rdma ? 1 : 0;
  return made;
}

void check_virtual_options(const Options& options, Device device) {
  require(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
          "virtual_memory_management_supported", "virtual memory");
  if (options.addr_align && !std::has_single_bit(*options.addr_align)) {
    throw std::invalid_argument(
        "VirtualMemoryResourceOptions.addr_align must be a power of two, not " +
        std::to_string(*options.addr_align));
  }
  check_location(options, device);
  check_handle_type(options, device);
  check_peers(options, device);
  if (options.gpu_direct_rdma) {
    require(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
            "gpu_direct_rdma_with_cuda_vmm_supported", "GPU Direct RDMA");
  }
}

std::vector<CUmemAccessDesc> access_entries(const Options& options, Device device) {
  std::vector<CUmemAccessDesc> entries;
  const auto add = [&](CUmemLocation place, CUmemAccess_flags flags) {
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) entries.push_back({place, flags});
  };
  add(location(options, device), flags_of(options.self_access));
  for (const int id : options.peers) {
    add(CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, {id}}, flags_of(options.peer_access));
  }
  return entries;
}

std::vector<CUmemAccessDesc> access_changes(const std::vector<CUmemAccessDesc>& before,
                                            const std::vector<CUmemAccessDesc>& after) {
  std::vector<CUmemAccessDesc> entries = after;
  for (const CUmemAccessDesc& old : before) {
    const bool stays = std::ranges::any_of(after, [&old](const CUmemAccessDesc& entry) {
      return entry.location.type == old.location.type && entry.location.id == old.location.id;
    });
    if (!stays) entries.push_back({old.location, CU_MEM_ACCESS_FLAGS_PROT_NONE});
  }
  return entries;
}

}  // namespace cudacore
