// SPDX-License-Identifier: Apache-2.0
//
// NVML's types, as its binary interface lays them out: <nvml.h> doesn't come with CUDA's headers.
#pragma once

#include <array>
#include <cstddef>

namespace cudacore::driver {

using NvmlDevice = struct NvmlDeviceState*;
using NvmlEventSet = struct NvmlEventSetState*;
using NvmlSystemEventSet = struct NvmlSystemEventSetState*;

/// The size of the text before it, which the caller provides.
enum NvmlLength : unsigned {};
/// The number of words of the NvmlBits after it, which the caller provides.
enum NvmlWords : unsigned {};
/// In: how many elements the list after it has room for. Out: how many it has.
enum NvmlCount : unsigned {};

inline constexpr std::size_t nvml_most_items = 1024;
inline constexpr std::size_t nvml_most_words = 64;

/// What the field `version` of a structure says.
template <typename Structure>
constexpr unsigned nvml_version(unsigned number) noexcept {
  return static_cast<unsigned>(sizeof(Structure)) | number << 24U;
}

struct NvmlDevices {
  std::array<NvmlDevice, nvml_most_items> items{};
};

/// A set of processors or NUMA nodes, from the lowest bit of the first word.
struct NvmlBits {
  std::array<unsigned long, nvml_most_words> items{};
};

/// The states that a device supports; the others are 32.
struct NvmlPerformanceStates {
  std::array<unsigned, 16> items{};
};

struct NvmlDriverBranch {
  unsigned version = nvml_version<NvmlDriverBranch>(1);
  std::array<char, 80> branch{};
};

struct NvmlMemory {
  unsigned version = nvml_version<NvmlMemory>(2);
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct NvmlBar1Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct NvmlUtilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct NvmlPciInfo {
  unsigned version = nvml_version<NvmlPciInfo>(1);
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned device_id = 0;
  unsigned subsystem_id = 0;
  unsigned base_class = 0;
  unsigned sub_class = 0;
  std::array<char, 32> bus_id{};
};

struct NvmlProcess {
  unsigned pid = 0;
  unsigned long long used_memory = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

struct NvmlProcesses {
  std::array<NvmlProcess, nvml_most_items> items{};
};

struct NvmlAttributes {
  unsigned multiprocessors = 0;
  unsigned copy_engines = 0;
  unsigned decoders = 0;
  unsigned encoders = 0;
  unsigned jpeg_engines = 0;
  unsigned ofa_engines = 0;
  unsigned gpu_slices = 0;
  unsigned compute_slices = 0;
  unsigned long long memory_mib = 0;
};

struct NvmlC2cMode {
  unsigned is_enabled = 0;
};

struct NvmlAddressingMode {
  unsigned version = nvml_version<NvmlAddressingMode>(1);
  unsigned value = 0;
};

struct NvmlRepairStatus {
  unsigned version = nvml_version<NvmlRepairStatus>(1);
  unsigned channel = 0;
  unsigned tpc = 0;
};

struct NvmlCooler {
  unsigned version = nvml_version<NvmlCooler>(1);
  unsigned index = 0;
  int signal = 0;
  int target = 0;
};

struct NvmlFanSpeed {
  unsigned version = nvml_version<NvmlFanSpeed>(1);
  unsigned fan = 0;
  unsigned speed = 0;
};

struct NvmlUtilizationDomain {
  unsigned is_present = 0;
  unsigned percentage = 0;
  unsigned increase_threshold = 0;
  unsigned decrease_threshold = 0;
};

struct NvmlDynamicStates {
  unsigned flags = 0;
  std::array<NvmlUtilizationDomain, 8> domains{};
};

struct NvmlThermalSensor {
  int controller = 0;
  int default_least = 0;
  int default_most = 0;
  int current = 0;
  int target = 0;
};

struct NvmlThermalSettings {
  unsigned count = 0;
  std::array<NvmlThermalSensor, 3> sensors{};
};

struct NvmlMargin {
  unsigned version = nvml_version<NvmlMargin>(1);
  int celsius = 0;
};

struct NvmlClockOffset {
  unsigned version = nvml_version<NvmlClockOffset>(1);
  int type = 0;
  int state = 0;
  int offset = 0;
  int least = 0;
  int most = 0;
};

struct NvmlFieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp = 0;
  long long latency = 0;
  int type = 0;
  int result = 0;
  unsigned long long bits = 0;  ///< a union: what it is depends on `type`
};

struct NvmlEventData {
  NvmlDevice device = nullptr;
  unsigned long long type = 0;
  unsigned long long data = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

/// Also how such a set is given back.
struct NvmlSystemEventSetRequest {
  unsigned version = nvml_version<NvmlSystemEventSetRequest>(1);
  NvmlSystemEventSet set = nullptr;
};

struct NvmlSystemRegistration {
  unsigned version = nvml_version<NvmlSystemRegistration>(1);
  unsigned long long types = 0;
  NvmlSystemEventSet set = nullptr;
};

struct NvmlSystemEvent {
  unsigned long long type = 0;
  unsigned gpu = 0;
};

struct NvmlSystemWait {
  unsigned version = nvml_version<NvmlSystemWait>(1);
  unsigned timeout_ms = 0;
  NvmlSystemEventSet set = nullptr;
  NvmlSystemEvent* events = nullptr;
  unsigned capacity = 0;
  unsigned count = 0;
};

}  // namespace cudacore::driver
