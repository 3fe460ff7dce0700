// SPDX-License-Identifier: Apache-2.0
//
// The management library: which devices there are, and how it responds to invalid calls.
#include "simulator/api/system/management.hpp"

#include <array>

#include <unistd.h>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

using Text = std::array<char, 96>;

class Management : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS); }

  nvmlDevice_t device = nullptr;
};

TEST(ManagementSession, CountsItsUsers) {
  unsigned count = 0;
  nvmlDevice_t device = nullptr;
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-", &device), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlInit_v2(), NVML_SUCCESS);
  EXPECT_EQ(nvmlInitWithFlags(1), NVML_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
  EXPECT_GE(count, 1U);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
}

TEST_F(Management, TheSystemTellsItsVersions) {
  Text text{};
  int version = 0;
  EXPECT_EQ(nvmlSystemGetDriverVersion(text.data(), text.size()), NVML_SUCCESS);
  EXPECT_STREQ(text.data(), "13.5.0");
  EXPECT_EQ(nvmlSystemGetNVMLVersion(text.data(), text.size()), NVML_SUCCESS);
  EXPECT_STREQ(text.data(), "13.13.5.0");
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion(&version), NVML_SUCCESS);
  EXPECT_EQ(version, 13050);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion_v2(&version), NVML_SUCCESS);
  EXPECT_EQ(nvmlSystemGetDriverVersion(text.data(), 6), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvmlSystemGetDriverVersion(nullptr, 96), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlSystemGetNVMLVersion(nullptr, 96), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlSystemGetNVMLVersion(text.data(), 0), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Management, ADeviceIsTheDriversOwn) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  Text name{};
  Text expected{};
  int major = 0;
  int minor = 0;
  unsigned number = 1;
  EXPECT_EQ(nvmlDeviceGetName(device, name.data(), name.size()), NVML_SUCCESS);
  EXPECT_EQ(cuDeviceGetName(expected.data(), expected.size(), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name.data(), expected.data());
  EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(device, &major, &minor), NVML_SUCCESS);
  EXPECT_EQ(major * 10 + minor, 90);
  EXPECT_EQ(nvmlDeviceGetArchitecture(device, &number), NVML_SUCCESS);
  EXPECT_EQ(number, 9U);
  EXPECT_EQ(nvmlDeviceGetIndex(device, &number), NVML_SUCCESS);
  EXPECT_EQ(number, 0U);
  EXPECT_EQ(nvmlDeviceGetName(device, name.data(), 8), NVML_ERROR_INSUFFICIENT_SIZE);
}

TEST_F(Management, ADeviceIsFoundByItsNames) {
  Text uuid{};
  nvmlPciInfo_t pci{};
  nvmlDevice_t found = nullptr;
  ASSERT_EQ(nvmlDeviceGetUUID(device, uuid.data(), uuid.size()), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid.data(), &found), NVML_SUCCESS);
  EXPECT_EQ(found, device);
  ASSERT_EQ(nvmlDeviceGetPciInfo_v3(device, &pci), NVML_SUCCESS);
  EXPECT_STREQ(pci.busId, "00000000:01:00.0");
  EXPECT_STREQ(pci.busIdLegacy, "0000:01:00.0");
  EXPECT_EQ(pci.bus, 1U);
  for (const char* id : {pci.busId, pci.busIdLegacy}) {
    found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(id, &found), NVML_SUCCESS);
    EXPECT_EQ(found, device);
  }
  EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-none", &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(nullptr, &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:7F:00.0", &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("no place", &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(64, &found), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Management, StructuresHaveVersions) {
  nvmlPciInfoExt_t pci{};
  nvmlMemory_v2_t memory{};
  EXPECT_EQ(nvmlDeviceGetPciInfoExt(device, &pci), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device, &memory), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  pci.version = 0x1000040;
  memory.version = 0x2000028;
  EXPECT_EQ(nvmlDeviceGetPciInfoExt(device, &pci), NVML_SUCCESS);
  EXPECT_STREQ(pci.busId, "00000000:01:00.0");
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device, &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, memory.free + memory.used);
}

TEST_F(Management, WrongHandlesAndNowhereToWrite) {
  int on_stack = 0;
  unsigned number = 0;
  nvmlMemory_t memory{};
  const auto wrong = reinterpret_cast<nvmlDevice_t>(&on_stack);
  EXPECT_EQ(nvmlDeviceGetIndex(wrong, &number), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetIndex(nullptr, &number), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(wrong, &memory), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(device, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetCount_v2(nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_NOT_FOUND), "Not Found");
  EXPECT_STREQ(nvmlErrorString(static_cast<nvmlReturn_t>(12345)), "Unknown Error");
}

TEST_F(Management, TwoDevicesShareTheMachine) {
  auto level = static_cast<nvmlGpuTopologyLevel_t>(-1);
  auto status = static_cast<nvmlGpuP2PStatus_t>(-1);
  EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(device, device, &level), NVML_SUCCESS);
  EXPECT_EQ(level, NVML_TOPOLOGY_INTERNAL);
  EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(device, nullptr, &level),
            NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetP2PStatus(device, device, NVML_P2P_CAPS_INDEX_NVLINK, &status),
            NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Management, NamesThisProcessAlone) {
  std::array<char, 4096> name{};
  const auto self = static_cast<unsigned>(getpid());
  EXPECT_EQ(nvmlSystemGetProcessName(self, name.data(), name.size()), NVML_SUCCESS);
  EXPECT_EQ(name.front(), '/');
  EXPECT_EQ(nvmlSystemGetProcessName(self, name.data(), 1), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvmlSystemGetProcessName(1, name.data(), name.size()), NVML_ERROR_NOT_FOUND);
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
}

class ManagementMemory : public DriverTest {};

TEST_F(ManagementMemory, IsWhatTheProcessHasTaken) {
  nvmlDevice_t device = nullptr;
  nvmlMemory_t before{};
  nvmlMemory_t after{};
  CUdeviceptr memory = 0;
  ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device, &before), NVML_SUCCESS);
  ASSERT_EQ(cuMemAlloc_v2(&memory, 1U << 20U), CUDA_SUCCESS);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device, &after), NVML_SUCCESS);
  EXPECT_EQ(after.used - before.used, 1U << 20U);
  EXPECT_EQ(after.total, after.free + after.used);
  std::array<nvmlProcessInfo_t, 2> processes{};
  unsigned count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr),
            NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr),
            NVML_ERROR_INVALID_ARGUMENT);
  count = processes.size();
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes.data()),
            NVML_SUCCESS);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(processes.front().pid, static_cast<unsigned>(getpid()));
  EXPECT_EQ(processes.front().usedGpuMemory, after.used);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
}

}  // namespace
}  // namespace cudacore::simulator
