// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cudacore/device_memory_resource.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

bool has_access(const ContextCall& call, const DeviceMemoryResource& resource, int device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  call.check(call.api().cuMemPoolGetAccess(&flags, resource.handle(), &location),
             "cuMemPoolGetAccess", [&] { return error::describe_device(device); });
  return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

CUmemAccessDesc access_entry(int device, CUmemAccess_flags flags) {
  CUmemAccessDesc entry{};
  entry.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  entry.location.id = device;
  entry.flags = flags;
  return entry;
}

}  // namespace

bool DeviceMemoryResource::is_accessible_by_peer(CUdeviceptr /*pointer*/, int device) const {
  const ContextCall call(error::primary_context(device_.id()));
  return has_access(call, *this, device);
}

std::vector<int> DeviceMemoryResource::peers() const {
  const ContextCall call(error::primary_context(device_.id()));
  std::vector<int> found;
  for (int device = 0; device < Device::count(); ++device) {
    if (device != device_.id() && has_access(call, *this, device)) found.push_back(device);
  }
  return found;
}

void DeviceMemoryResource::change_peers(const std::vector<int>& allowed,
                                        const std::vector<int>& denied) const {
  std::vector<CUmemAccessDesc> entries;
  for (const int id : allowed) {
    const Device peer(id);
    if (peer == device_) continue;
    if (!peer.can_access_peer(device_)) {
      throw NotSupportedError(error::describe_device(id) + " cannot access memory of " +
                              error::describe_device(device_.id()) +
                              ": see Device.can_access_peer");
    }
    entries.push_back(access_entry(id, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  }
  for (const int id : denied) {
    if (Device(id) == device_) continue;
    entries.push_back(access_entry(id, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  }
  if (entries.empty()) return;
  const ContextCall call(error::primary_context(device_.id()));
  call.check(call.api().cuMemPoolSetAccess(handle(), entries.data(), entries.size()),
             "cuMemPoolSetAccess", [&] { return error::describe_device(device_.id()); });
}

}  // namespace cudacore
