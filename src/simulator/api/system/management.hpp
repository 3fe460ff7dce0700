// SPDX-License-Identifier: Apache-2.0
//
// The part of NVIDIA's management library (NVML) that says which devices there are. Programs don't
// find the other functions, as with an old library. Names and types are declared here, because
// <nvml.h> doesn't come with the headers that this is built with.
//
// As in the real library, devices that CUDA_VISIBLE_DEVICES hides are included, and nothing calls
// cuInit: a process may use this, then fork, then use CUDA.
#pragma once

#pragma GCC visibility push(default)

extern "C" {

enum nvmlReturn_t : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_UNKNOWN = 999,
};

using nvmlDevice_t = const struct nvmlDevice_st*;

struct nvmlPciInfo_t {
  char busIdLegacy[16];  // NOLINT(modernize-avoid-c-arrays)
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  char busId[32];  // NOLINT(modernize-avoid-c-arrays)
};

struct nvmlPciInfoExt_t {
  unsigned version;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  unsigned baseClass;
  unsigned subClass;
  char busId[32];  // NOLINT(modernize-avoid-c-arrays)
};

struct nvmlMemory_t {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct nvmlMemory_v2_t {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};

struct nvmlProcessInfo_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

enum nvmlGpuTopologyLevel_t : int { NVML_TOPOLOGY_INTERNAL = 0, NVML_TOPOLOGY_NODE = 40 };

enum nvmlGpuP2PCapsIndex_t : int {
  NVML_P2P_CAPS_INDEX_NVLINK = 2,
  NVML_P2P_CAPS_INDEX_UNKNOWN = 5,
};

enum nvmlGpuP2PStatus_t : int { NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_NOT_SUPPORTED = 5 };

nvmlReturn_t nvmlInit_v2();
nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlShutdown();
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned size);
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned size);
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned size);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned size);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info);
nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* info);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* processes);
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned size);
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level);
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t capability, nvmlGpuP2PStatus_t* status);
}

#pragma GCC visibility pop
