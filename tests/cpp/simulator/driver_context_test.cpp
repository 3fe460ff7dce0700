// SPDX-License-Identifier: Apache-2.0
//
// Devices, contexts, and which context is current to a thread. There are two devices.
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "driver_test_support.hpp"
#include "simulator/api/context/identity.hpp"
#include "simulator/api/system/configuration.hpp"
#include "simulator/engine/workers.hpp"

namespace cudacore::simulator {
namespace {

class TwoDevices : public testing::Environment {
 public:
  void SetUp() override { setenv("CUDACORE_SIMULATOR_DEVICES", "2", 0); }
};
const testing::Environment* const two_devices =
    testing::AddGlobalTestEnvironment(std::make_unique<TwoDevices>().release());

class DriverContext : public DriverTest {};

/// A value that an enumeration doesn't have.
template <class Enum>
Enum no_such(int value) {
  return static_cast<Enum>(value);
}

class DriverDevice : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cuInit(0), CUDA_SUCCESS); }
};

int attribute(CUdevice_attribute which, CUdevice device = 0) {
  int value = -1;
  EXPECT_EQ(cuDeviceGetAttribute(&value, which, device), CUDA_SUCCESS);
  return value;
}

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

/// Runs code, which must return true, in a separate process that has not called cuInit.
template <class Code>
void expect_in_new_process(Code&& code) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(code() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_F(DriverDevice, TellsAboutItself) {
  int count = 0;
  CUdevice device = -1;
  char name[64] = {};
  std::size_t bytes = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "cudacore simulated device (sm_90)");
  EXPECT_EQ(cuDeviceGetName(name, 5, 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "cuda");
  EXPECT_EQ(cuDeviceTotalMem_v2(&bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(bytes, std::size_t{4} << 30U);
}

TEST_F(DriverDevice, IdentitiesDiffer) {
  CUuuid first{};
  CUuuid second{};
  char id[16] = {};
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGetUuid_v2(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetUuid_v2(&second, 1), CUDA_SUCCESS);
  EXPECT_NE(std::memcmp(&first, &second, sizeof(first)), 0);
  EXPECT_EQ(cuDeviceGetPCIBusId(id, sizeof(id), 1), CUDA_SUCCESS);
  EXPECT_STREQ(id, "0000:02:00.0");
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, id), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "01:00"), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "0000:09:00.0"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "nonsense"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetPCIBusId(id, 5, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverDevice, Attributes) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 232448);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
  EXPECT_NE(attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0),
            attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1));
  for (int i = 1; i <= 147; ++i) (void)attribute(static_cast<CUdevice_attribute>(i));
}

TEST_F(DriverDevice, WrongArguments) {
  int value = 0;
  CUdevice device = 0;
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, no_such<CUdevice_attribute>(9999), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 9),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverDevice, Peers) {
  int can = -1;
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 7), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverDevice, PropertiesFollowTheComputeCapability) {
  for (const int capability : {75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121}) {
    const DeviceProperties p = properties_of(capability / 10, capability % 10);
    EXPECT_EQ(p.clusters, capability >= 90);
    EXPECT_LE(p.shared_per_block_optin + p.reserved_shared_per_block, p.shared_per_multiprocessor);
    EXPECT_GE(p.shared_per_block_optin, p.shared_per_block);
    EXPECT_EQ(p.threads_per_multiprocessor % 32, 0U);
  }
}

TEST_F(DriverDevice, PrimaryContextIsCounted) {
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  unsigned flags = 9;
  int active = 9;
  ASSERT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(1, CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(1, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&first, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  EXPECT_EQ(first, second);
  EXPECT_EQ(cuCtxDestroy_v2(first), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_YIELD});
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(first), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(1, 0), CUDA_SUCCESS);
}

TEST_F(DriverDevice, ResetEndsThePrimaryContext) {
  CUcontext before = nullptr;
  CUcontext after = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&before, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(before), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset_v2(1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&after, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(after), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
}

TEST_F(DriverContext, StackOfTheThread) {
  CUcontext inner = nullptr;
  CUcontext popped = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&inner, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(current(), inner);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, inner);
  EXPECT_EQ(current(), context);
  EXPECT_EQ(cuCtxPushCurrent_v2(inner), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(inner), CUDA_SUCCESS);
  EXPECT_EQ(current(), context);
}

TEST_F(DriverContext, EachThreadHasItsOwn) {
  CUresult without = CUDA_SUCCESS;
  CUresult with = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    without = cuCtxSynchronize();
    if (cuCtxSetCurrent(context) == CUDA_SUCCESS) with = cuCtxSynchronize();
  }).join();
  EXPECT_EQ(without, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(with, CUDA_SUCCESS);
}

TEST_F(DriverContext, DestroyedOnesAreTold) {
  CUcontext other = nullptr;
  unsigned long long id = 0;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  CUresult seen = CUDA_SUCCESS;
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  std::thread([&] {
    ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
    seen = cuCtxSynchronize();
  }).join();
  EXPECT_EQ(seen, CUDA_ERROR_INVALID_CONTEXT);  // it was popped when it was destroyed
  EXPECT_EQ(cuCtxGetId(other, &id), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxSetCurrent(other), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(DriverContext, WrongHandlesAreNoContexts) {
  int on_stack = 0;
  for (void* wrong : {static_cast<void*>(&on_stack), reinterpret_cast<void*>(0x10),
                      reinterpret_cast<void*>(~std::uintptr_t{0})}) {
    EXPECT_EQ(cuCtxSetCurrent(static_cast<CUcontext>(wrong)), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxDestroy_v2(static_cast<CUcontext>(wrong)), CUDA_ERROR_INVALID_CONTEXT);
  }
  EXPECT_EQ(cuCtxPushCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxCreate_v2(&context, 0, 5), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxCreate_v2(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverContext, Settings) {
  std::size_t value = 0;
  unsigned flags = 0;
  unsigned version = 0;
  int least = 9;
  int greatest = 9;
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1000), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(value, 1008U);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, std::size_t{1} << 30U), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), CUDA_ERROR_UNSUPPORTED_LIMIT);
  EXPECT_EQ(cuCtxGetLimit(&value, no_such<CUlimit>(99)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxSetFlags(CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_SPIN});
  EXPECT_EQ(cuCtxGetApiVersion(context, &version), CUDA_SUCCESS);
  EXPECT_EQ(version, 3020U);
  EXPECT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  EXPECT_EQ(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
}

TEST_F(DriverContext, PeerAccess) {
  CUcontext peer = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&peer, 0, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDisablePeerAccess(peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_EQ(cuCtxEnablePeerAccess(peer, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(peer, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cuCtxEnablePeerAccess(peer, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDisablePeerAccess(peer), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(peer), CUDA_SUCCESS);
}

TEST(DriverConfiguration, ReadsNumbers) {
  EXPECT_EQ(parse_memory("4 GiB"), std::size_t{4} << 30U);
  EXPECT_EQ(parse_memory("512MiB"), std::size_t{512} << 20U);
  EXPECT_EQ(parse_memory(" 1048576 "), std::size_t{1} << 20U);
  EXPECT_FALSE(parse_memory("4 GB"));
  EXPECT_FALSE(parse_memory("GiB"));
  EXPECT_FALSE(parse_memory("99999999999 TiB"));
  EXPECT_EQ(parse_compute_capability("7.5"), (std::pair{7, 5}));
  EXPECT_FALSE(parse_compute_capability("90"));
  EXPECT_FALSE(parse_compute_capability("9.x"));
}

TEST(DriverConfiguration, ReadsVisibleDevices) {
  EXPECT_EQ(parse_visible_devices("1,0", 2), (std::vector{1, 0}));
  EXPECT_EQ(parse_visible_devices("1,7,0", 2), (std::vector{1}));
  EXPECT_EQ(parse_visible_devices(format_uuid(uuid_of(1)), 2), (std::vector{1}));
  EXPECT_TRUE(parse_visible_devices("", 2).empty());
  EXPECT_TRUE(parse_visible_devices("-1", 2).empty());
  EXPECT_TRUE(parse_visible_devices("0,0", 2).empty());
}

TEST(DriverConfigurationDeathTest, EnvironmentChoosesTheDevices) {
  expect_in_new_process([] {
    setenv("CUDACORE_SIMULATOR_DEVICES", "3", 1);
    setenv("CUDACORE_SIMULATOR_COMPUTE_CAPABILITY", "12.0", 1);
    setenv("CUDACORE_SIMULATOR_MEMORY", "64 MiB", 1);
    setenv("CUDA_VISIBLE_DEVICES", "2", 1);
    int count = 0;
    char id[16] = {};
    std::size_t bytes = 0;
    return cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_SUCCESS &&
           cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 1 &&
           cuDeviceGetPCIBusId(id, sizeof(id), 0) == CUDA_SUCCESS &&
           std::string(id) == "0000:03:00.0" && cuDeviceTotalMem_v2(&bytes, 0) == CUDA_SUCCESS &&
           bytes == std::size_t{64} << 20U &&
           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 12;
  });
}

TEST(DriverConfigurationDeathTest, EnvironmentChoosesTheThreads) {
  expect_in_new_process([] {
    setenv("CUDACORE_SIMULATOR_THREADS", " 3 ", 1);
    return cudacoreSimulatorConfigure(1, 9, 0, 1U << 30U) == CUDA_SUCCESS &&
           cuInit(0) == CUDA_SUCCESS && Workers::instance().count() == 3;
  });
}

TEST(DriverConfigurationDeathTest, NonsenseOfTheEngineIsRefused) {
  expect_in_new_process([] {
    const auto refuses = [](const char* name, const char* value) {
      setenv(name, value, 1);
      const bool refused = cuInit(0) == CUDA_ERROR_INVALID_VALUE;
      unsetenv(name);
      return refused;
    };
    for (const char* value : {"", "0", "-1", "1025", "99999999999999999999", "2.5", "all", "2x"}) {
      if (!refuses("CUDACORE_SIMULATOR_THREADS", value)) return false;
    }
    // The variables are checked even if the host has chosen the devices.
    return cudacoreSimulatorConfigure(1, 9, 0, 1U << 30U) == CUDA_SUCCESS &&
           refuses("CUDACORE_SIMULATOR_THREADS", "0") && refuses("CUDACORE_SIMULATOR_ISA", "mmx") &&
           refuses("CUDACORE_SIMULATOR_ISA", "") && refuses("CUDACORE_SIMULATOR_COUNT", "yes") &&
           cuInit(0) == CUDA_SUCCESS;
  });
}

TEST(DriverConfigurationDeathTest, NonsenseIsRefused) {
  expect_in_new_process([] {
    setenv("CUDACORE_SIMULATOR_MEMORY", "much", 1);
    if (cuInit(0) != CUDA_ERROR_INVALID_VALUE) return false;
    unsetenv("CUDACORE_SIMULATOR_MEMORY");
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    return cuInit(0) == CUDA_ERROR_NO_DEVICE;
  });
}

TEST(DriverConfigurationDeathTest, HostChoosesTheDevices) {
  expect_in_new_process([] {
    int count = 0;
    return cudacoreSimulatorConfigure(65, 9, 0, 1U << 30U) == CUDA_ERROR_INVALID_VALUE &&
           cudacoreSimulatorConfigure(0, 0, 0, 0) == CUDA_SUCCESS &&
           cudacoreSimulatorConfigure(1, 7, 0, 1U << 30U) == CUDA_ERROR_INVALID_VALUE &&
           cudacoreSimulatorConfigure(1, 9, 0, 5) == CUDA_ERROR_INVALID_VALUE &&
           cudacoreSimulatorConfigure(4, 7, 5, 1U << 24U) == CUDA_SUCCESS &&
           cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 4 &&
           attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0 &&
           cudacoreSimulatorConfigure(1, 9, 0, 1U << 30U) == CUDA_ERROR_ILLEGAL_STATE;
  });
}

TEST_F(DriverContext, ForkedChildHasNoDriver) {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    CUcontext got = nullptr;
    const bool refused = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuCtxGetCurrent(&got) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cudacore::simulator
