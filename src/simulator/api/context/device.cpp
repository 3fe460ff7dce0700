// SPDX-License-Identifier: Apache-2.0
//
// Devices: which there are, and their names.
#include <algorithm>
#include <string>
#include <string_view>

#include "simulator/api/context/identity.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/texture/array.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::size_t kib = 1024;

}  // namespace

DeviceProperties properties_of(int major, int minor) noexcept {
  DeviceProperties properties;
  properties.major = major;
  properties.minor = minor;
  const auto set = [&](unsigned threads, unsigned blocks, std::size_t shared_kib) {
    properties.threads_per_multiprocessor = threads;
    properties.blocks_per_multiprocessor = blocks;
    properties.shared_per_multiprocessor = shared_kib * kib;
  };
  switch (major * 10 + minor) {
    case 75:
      set(1024, 16, 64);
      properties.persisting_l2 = 0;
      properties.access_policy_window = 0;
      break;
    case 80:
      set(2048, 32, 164);
      break;
    case 86:
      set(1536, 16, 100);
      break;
    case 87:
    case 88:
      set(1536, 16, 164);
      break;
    case 89:
    case 120:
    case 121:
      set(1536, 24, 100);
      break;
    case 101:
    case 110:
      set(1536, 24, 228);
      break;
    default:
      set(2048, 32, 228);
      break;
  }
  properties.reserved_shared_per_block = major >= 8 ? kib : 0;
  properties.shared_per_block_optin =
      properties.shared_per_multiprocessor - properties.reserved_shared_per_block;
  properties.clusters = major >= 9;
  return properties;
}

Device::Device(int ordinal_of, int physical_of, const DeviceProperties& properties_of_it,
               std::size_t memory_bytes)
    : ordinal(ordinal_of),
      physical(physical_of),
      properties(properties_of_it),
      memory(ordinal_of, memory_bytes) {}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

/// For a function that takes a device and an output pointer: CUresult body(Device&).
template <class Body>
CUresult device_call(const void* output, CUdevice ordinal, Body&& body) noexcept {
  return driver_call([&] {
    if (output == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Device* device = find_device(ordinal);
    return device != nullptr ? body(*device) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return driver_call([&] {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(registry().devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return device_call(device, ordinal, [&](const Device& found) {
    *device = found.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  return device_call(name, ordinal, [&](const Device& device) {
    if (length < 1) return CUDA_ERROR_INVALID_VALUE;
    copy_text(device_name(device.properties.major, device.properties.minor), name,
              static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
  return device_call(uuid, ordinal, [&](const Device& device) {
    *uuid = uuid_of(device.physical);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
  return cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult cuDeviceGetLuid(char* luid, unsigned* node_mask, CUdevice ordinal) {
  return device_call(luid, ordinal, [&](const Device&) {
    if (node_mask == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "only devices under Windows have a LUID");
  });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice ordinal) {
  return device_call(bytes, ordinal, [&](const Device& device) {
    *bytes = device.memory.capacity();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(unsigned* bytes, CUdevice ordinal) {
  return device_call(bytes, ordinal, [&](const Device& device) {
    *bytes = static_cast<unsigned>(std::min<std::size_t>(device.memory.capacity(), ~0U));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  return device_call(major, ordinal, [&](const Device& device) {
    if (minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = device.properties.major;
    *minor = device.properties.minor;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice ordinal) {
  return device_call(text, ordinal, [&](const Device& device) {
    const std::string id = "0000:" + format_pci_place(device.physical);
    if (length <= static_cast<int>(id.size())) return CUDA_ERROR_INVALID_VALUE;
    copy_text(id, text, static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return driver_call([&] {
    if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const int bus = parse_pci_bus(text);
    if (bus < 0) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& candidate : registry().devices) {
      if (pci_bus(candidate->physical) != bus) continue;
      *device = candidate->ordinal;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice ordinal) {
  return device_call(supported, ordinal, [&](const Device&) {
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t* width, CUarray_format format,
                                            unsigned channels, CUdevice ordinal) {
  return device_call(width, ordinal, [&](const Device& device) {
    if (const CUresult result = check_format(format, channels); result != CUDA_SUCCESS) {
      return result;
    }
    int most = 0;
    const CUresult result = cuDeviceGetAttribute(
        &most, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, device.ordinal);
    *width = static_cast<std::size_t>(most);
    return result;
  });
}

}  // extern "C"
