// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/system/management.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "simulator/api/context/identity.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/system/configuration.hpp"

namespace cudacore::simulator {
namespace {

/// Between the first nvmlInit and the last nvmlShutdown.
struct Session {
  std::mutex mutex;
  unsigned users = 0;
  Configuration configuration;
};

Session& session() {
  static Session storage;
  return storage;
}

/// Handles point into this array, at the device's number.
constexpr std::array<std::byte, max_devices> handles{};

nvmlDevice_t handle_of(int physical) noexcept {
  return reinterpret_cast<nvmlDevice_t>(&handles.at(static_cast<std::size_t>(physical)));
}

template <class Body>
nvmlReturn_t guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return NVML_ERROR_UNKNOWN;
  }
}

/// nvmlReturn_t body(const Configuration&), if there is a session.
template <class Body>
nvmlReturn_t system_call(const void* output, Body&& body) noexcept {
  return guarded([&] {
    Configuration configuration;
    {
      const std::scoped_lock lock(session().mutex);
      if (session().users == 0) return NVML_ERROR_UNINITIALIZED;
      configuration = session().configuration;
    }
    return output != nullptr ? body(std::as_const(configuration)) : NVML_ERROR_INVALID_ARGUMENT;
  });
}

/// nvmlReturn_t body(int physical, const Configuration&), for a handle.
template <class Body>
nvmlReturn_t device_call(nvmlDevice_t device, const void* output, Body&& body) noexcept {
  return system_call(output, [&](const Configuration& configuration) {
    for (int i = 0; i < static_cast<int>(configuration.devices); ++i) {
      if (handle_of(i) == device) return body(i, configuration);
    }
    return NVML_ERROR_INVALID_ARGUMENT;
  });
}

/// Writes the handle of the device for which the condition holds.
template <class Condition>
nvmlReturn_t find_handle(nvmlDevice_t* device, Condition&& condition) noexcept {
  return system_call(device, [&](const Configuration& configuration) {
    for (int i = 0; i < static_cast<int>(configuration.devices); ++i) {
      if (!condition(i)) continue;
      *device = handle_of(i);
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

nvmlReturn_t write_text(std::string_view text, char* to, unsigned size) noexcept {
  if (text.size() >= size) return NVML_ERROR_INSUFFICIENT_SIZE;
  copy_text(text, to, size);
  return NVML_SUCCESS;
}

/// The version that a structure must contain.
template <class Structure>
constexpr unsigned version_of(unsigned number) noexcept {
  return sizeof(Structure) | number << 24U;
}

/// "13.5.0": the supported CUDA version, because there is no kernel driver.
std::string version_text() {
  return std::to_string(driver_version / 1000) + "." + std::to_string(driver_version / 10 % 100) +
         ".0";
}

/// The bytes that this process can still allocate on a device: all of them before cuInit.
std::size_t free_on(int physical, const Configuration& configuration) {
  if (driver_status() == CUDA_SUCCESS) {
    for (const auto& device : registry().devices) {
      if (device->physical == physical) return free_bytes(*device);
    }
  }
  return configuration.memory_bytes;
}

nvmlMemory_t memory_of(int physical, const Configuration& configuration) {
  const std::size_t total = configuration.memory_bytes;
  const std::size_t free = std::min(free_on(physical, configuration), total);
  return {total, free, total - free};
}

/// nvmlReturn_t body(int, int), for two handles.
template <class Body>
nvmlReturn_t pair_call(nvmlDevice_t device, nvmlDevice_t other, const void* output,
                       Body&& body) noexcept {
  return device_call(device, output, [&](int one, const Configuration&) {
    return device_call(other, output,
                       [&](int two, const Configuration&) { return body(one, two); });
  });
}

}  // namespace
}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

nvmlReturn_t nvmlInitWithFlags(unsigned) {
  return guarded([] {
    const std::scoped_lock lock(session().mutex);
    if (session().users == 0) {
      const auto configuration = read_configuration();
      if (!configuration) return NVML_ERROR_UNKNOWN;
      session().configuration = *configuration;
    }
    ++session().users;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
  return guarded([] {
    const std::scoped_lock lock(session().mutex);
    if (session().users == 0) return NVML_ERROR_UNINITIALIZED;
    --session().users;
    return NVML_SUCCESS;
  });
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
      return "Argument Version Mismatch";
    case NVML_ERROR_UNKNOWN:
      break;
  }
  return "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned size) {
  return system_call(
      version, [&](const Configuration&) { return write_text(version_text(), version, size); });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned size) {
  if (version == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return guarded([&] {
    const std::string cuda = std::to_string(driver_version / 1000);
    return write_text(cuda + "." + version_text(), version, size);
  });
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *version = driver_version;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return system_call(count, [&](const Configuration& configuration) {
    *count = configuration.devices;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return system_call(device, [&](const Configuration& configuration) {
    if (index >= configuration.devices) return NVML_ERROR_INVALID_ARGUMENT;
    *device = handle_of(static_cast<int>(index));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (uuid == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return find_handle(device, [&](int physical) { return format_uuid(uuid_of(physical)) == uuid; });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device) {
  const int bus = id != nullptr ? parse_pci_bus(id) : -1;
  if (bus < 0) return NVML_ERROR_INVALID_ARGUMENT;
  return find_handle(device, [&](int physical) { return pci_bus(physical) == bus; });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  return device_call(device, index, [&](int physical, const Configuration&) {
    *index = static_cast<unsigned>(physical);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned size) {
  return device_call(device, name, [&](int, const Configuration& configuration) {
    return write_text(device_name(configuration.major, configuration.minor), name, size);
  });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned size) {
  return device_call(device, uuid, [&](int physical, const Configuration&) {
    return write_text(format_uuid(uuid_of(physical)), uuid, size);
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return device_call(device, info, [&](int physical, const Configuration&) {
    const std::string place = format_pci_place(physical);
    *info = {};
    info->bus = static_cast<unsigned>(pci_bus(physical));
    copy_text("0000:" + place, info->busIdLegacy, sizeof(info->busIdLegacy));
    copy_text("00000000:" + place, info->busId, sizeof(info->busId));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* info) {
  return device_call(device, info, [&](int physical, const Configuration&) {
    constexpr unsigned version = version_of<nvmlPciInfoExt_t>(1);
    if (info->version != version) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    *info = {};
    info->version = version;
    info->bus = static_cast<unsigned>(pci_bus(physical));
    copy_text("00000000:" + format_pci_place(physical), info->busId, sizeof(info->busId));
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture) {
  constexpr unsigned turing = 6;
  constexpr unsigned ampere = 7;
  constexpr unsigned ada = 8;
  constexpr unsigned hopper = 9;
  constexpr unsigned blackwell = 10;
  return device_call(device, architecture, [&](int, const Configuration& configuration) {
    const int capability = configuration.major * 10 + configuration.minor;
    *architecture = capability < 80    ? turing
                    : capability < 89  ? ampere
                    : capability < 90  ? ada
                    : capability < 100 ? hopper
                                       : blackwell;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return device_call(device, major, [&](int, const Configuration& configuration) {
    if (minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *major = configuration.major;
    *minor = configuration.minor;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return device_call(device, memory, [&](int physical, const Configuration& configuration) {
    *memory = memory_of(physical, configuration);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return device_call(device, memory, [&](int physical, const Configuration& configuration) {
    constexpr unsigned version = version_of<nvmlMemory_v2_t>(2);
    if (memory->version != version) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const auto [total, free, used] = memory_of(physical, configuration);
    *memory = {version, total, 0, free, used};
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* processes) {
  return device_call(device, count, [&](int physical, const Configuration& configuration) {
    const auto used = memory_of(physical, configuration).used;
    const unsigned room = std::exchange(*count, used != 0 ? 1 : 0);
    if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
    if (*count == 0) return NVML_SUCCESS;
    if (processes == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    constexpr unsigned no_instance = ~0U;
    *processes = {static_cast<unsigned>(getpid()), used, no_instance, no_instance};
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned size) {
  return system_call(name, [&](const Configuration&) {
    if (pid != static_cast<unsigned>(getpid())) return NVML_ERROR_NOT_FOUND;
    return write_text(std::filesystem::read_symlink("/proc/self/exe").string(), name, size);
  });
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level) {
  return pair_call(device, other, level, [&](int one, int two) {
    *level = one == two ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t capability, nvmlGpuP2PStatus_t* status) {
  return pair_call(device, other, status, [&](int one, int two) {
    if (capability < 0 || capability > NVML_P2P_CAPS_INDEX_UNKNOWN || one == two) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    const bool has_none =
        capability == NVML_P2P_CAPS_INDEX_NVLINK || capability == NVML_P2P_CAPS_INDEX_UNKNOWN;
    *status = has_none ? NVML_P2P_STATUS_NOT_SUPPORTED : NVML_P2P_STATUS_OK;
    return NVML_SUCCESS;
  });
}

}  // extern "C"
