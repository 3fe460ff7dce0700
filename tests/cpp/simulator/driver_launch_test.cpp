// SPDX-License-Identifier: Apache-2.0
//
// Launches and occupancy: what runs, and what is rejected with which code.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

/// A value that an enumeration doesn't have.
template <class Enum>
Enum no_such(int value) {
  return static_cast<Enum>(value);
}

constexpr const char* program = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to, .param .u32 value) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<6>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  add.u32 %r1, %r1, %r5;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry empty() { ret; }
.visible .entry bounded() .maxntid 128, 1, 1 { ret; }
.visible .entry required() .reqntid 64, 1, 1 { ret; }
.visible .entry pairs() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry told() .explicitcluster { ret; }
.visible .entry traps() { trap; }
)";

class DriverLaunch : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuModuleLoadData(&module, program), CUDA_SUCCESS);
    empty = find("empty");
  }
  CUfunction find(const char* name) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
  }
  static CUresult launch(CUfunction function, Dim3 grid, Dim3 block, unsigned shared = 0,
                         void** values = nullptr, void** extra = nullptr) {
    return cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                          nullptr, values, extra);
  }
  static CUresult launch_with(CUfunction function, unsigned grid,
                              std::vector<CUlaunchAttribute> attributes) {
    CUlaunchConfig config{};
    config.gridDimX = grid;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    return cuLaunchKernelEx(&config, function, nullptr, nullptr);
  }
  static CUlaunchAttribute cluster(unsigned x) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = 1;
    attribute.value.clusterDim.z = 1;
    return attribute;
  }

  CUmodule module = nullptr;
  CUfunction empty = nullptr;
};

class DriverOccupancy : public DriverLaunch {};

TEST_F(DriverLaunch, ParametersReachTheKernel) {
  constexpr std::size_t count = 256;
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, count * sizeof(std::uint32_t)), CUDA_SUCCESS);
  std::uint32_t value = 100;
  std::array<void*, 2> values{&address, &value};
  ASSERT_EQ(launch(find("store"), {2, 1, 1}, {64, 1, 1}, 0, values.data()), CUDA_SUCCESS);
  value = 7;  // the launch has its own copy
  struct {
    CUdeviceptr address;
    std::uint32_t value;
  } packed{address + 128 * sizeof(std::uint32_t), 500};
  std::size_t size = 12;
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                             &size, CU_LAUNCH_PARAM_END};
  ASSERT_EQ(launch(find("store"), {2, 1, 1}, {64, 1, 1}, 0, nullptr, extra.data()), CUDA_SUCCESS);
  std::array<std::uint32_t, count> result{};
  ASSERT_EQ(cuMemcpyDtoH_v2(result.data(), address, sizeof(result)), CUDA_SUCCESS);
  for (std::uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(result[i], 100 + i);
    EXPECT_EQ(result[128 + i], 500 + i);
  }
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(DriverLaunch, KernelsOfLibrariesLaunchAsFunctions) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, program, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "empty"), CUDA_SUCCESS);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(kernel), {}, {}), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(kernel), {}, {}), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverLaunch, WrongParametersAreRefused) {
  CUfunction store = find("store");
  std::uint64_t value = 0;
  std::array<char, 64> buffer{};
  std::size_t size = 64;
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(),
                             CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  std::array<void*, 1> nothing{CU_LAUNCH_PARAM_END};
  std::array<void*, 2> null{&value, nullptr};
  EXPECT_EQ(launch(store, {}, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(store, {}, {}, 0, nullptr, nothing.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(store, {}, {}, 0, nullptr, extra.data()), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  size = 8;
  EXPECT_EQ(launch(store, {}, {}, 0, nullptr, extra.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(store, {}, {}, 0, null.data()), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverLaunch, ShapesPastTheLimitsAreRefused) {
  EXPECT_EQ(launch(empty, {}, {1024, 1, 1}), CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, {0, 1, 1}, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, {}, {0, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, {}, {1025, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, {}, {1024, 2, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, {}, {1, 1, 65}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, {1, 65536, 1}, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, {0x80000000U, 1, 1}, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(find("bounded"), {}, {256, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(find("required"), {}, {32, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(find("required"), {}, {64, 1, 1}), CUDA_SUCCESS);
  EXPECT_EQ(launch(find("required"), {}, {}), CUDA_SUCCESS);  // means the shape that it requires
  EXPECT_EQ(launch(empty, {}, {}, 49153), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000),
            CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, {}, {}, 49153), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchCooperativeKernel(empty, 100000, 1, 1, 1024, 1, 1, 0, nullptr, nullptr),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DriverLaunch, Clusters) {
  EXPECT_EQ(launch_with(find("pairs"), 4, {}), CUDA_SUCCESS);
  EXPECT_EQ(launch_with(find("pairs"), 4, {cluster(2)}), CUDA_SUCCESS);
  EXPECT_EQ(launch_with(find("pairs"), 3, {}), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch_with(find("pairs"), 4, {cluster(4)}), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch_with(find("told"), 4, {}), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch_with(find("told"), 4, {cluster(2)}), CUDA_SUCCESS);
  EXPECT_EQ(launch_with(empty, 4, {cluster(0)}), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launch_with(empty, 16, {cluster(16)}), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(launch_with(empty, 16, {cluster(16)}), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

/// As answered by an H100 with driver 580.
TEST_F(DriverLaunch, GridsMayCountClusters) {
  constexpr const char* counts = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to) .reqntid 32 .reqnctapercluster 2, 3 .blocksareclusters {
  .reg .pred %p<2>;
  .reg .b64 %rd<2>;
  .reg .b32 %r<6>;
  ld.param.u64 %rd1, [to];
  red.global.add.u32 [%rd1], 1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ctaid.y;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %nclusterid.x;
  mov.u32 %r5, %cluster_nctarank;
  st.global.v4.u32 [%rd1+16], {%r1, %r2, %r3, %r4};
  st.global.u32 [%rd1+32], %r5;
  ret;
})";
  ASSERT_EQ(cuModuleLoadData(&module, counts), CUDA_SUCCESS);
  CUfunction kernel = find("k");
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, 64), CUDA_SUCCESS);
  std::array<void*, 1> values{&address};
  for (const Dim3 block : {Dim3{32, 1, 1}, Dim3{1, 1, 1}}) {
    ASSERT_EQ(cuMemsetD8_v2(address, 0, 64), CUDA_SUCCESS);
    ASSERT_EQ(launch(kernel, {4, 3, 1}, block, 0, values.data()), CUDA_SUCCESS);
    std::array<std::uint32_t, 9> result{};
    ASSERT_EQ(cuMemcpyDtoH_v2(result.data(), address, sizeof(result)), CUDA_SUCCESS);
    EXPECT_EQ(result, (std::array<std::uint32_t, 9>{8 * 9 * 32, 0, 0, 0, 8, 9, 32, 4, 6}));
  }
  EXPECT_EQ(launch(kernel, {4, 3, 1}, {64, 1, 1}, 0, values.data()), CUDA_ERROR_INVALID_VALUE);
  CUlaunchConfig config{4, 3, 1, 32, 1, 1, 0, nullptr, nullptr, 0};
  std::array<int, 2> active{};
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&active[0], kernel, &config), CUDA_SUCCESS);
  config.blockDimX = 1;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&active[1], kernel, &config), CUDA_SUCCESS);
  EXPECT_EQ(active[0], active[1]);
  EXPECT_EQ(launch(kernel, {0, 1, 1}, {}, 0, values.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel, {0x40000000, 1, 1}, {}, 0, values.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel, {0xffffffff, 1, 1}, {}, 0, values.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel, {1, 30000, 1}, {}, 0, values.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_with(kernel, 4, {cluster(2)}), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(cuLaunchCooperativeKernel(kernel, 4000, 1, 1, 32, 1, 1, 0, nullptr, values.data()),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(DriverLaunch, Attributes) {
  CUlaunchAttribute unknown{};
  unknown.id = no_such<CUlaunchAttributeID>(99);
  CUlaunchAttribute ignored{};
  CUlaunchAttribute priority{};
  priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  priority.value.priority = -1;
  CUlaunchAttribute event{};
  event.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  event.value.launchCompletionEvent.event = make_event(CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(launch_with(empty, 1, {unknown}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_with(empty, 1, {ignored, priority, event}), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event.value.launchCompletionEvent.event), CUDA_SUCCESS);
}

TEST_F(DriverLaunch, ContextsDoNotMix) {
  CUstream stream = make_stream();
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, {}, {}), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, {}, {}), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DriverLaunch, FaultsStickToTheContext) {
  CUlogIterator log = 0;
  ASSERT_EQ(cuLogsCurrent(&log, 0), CUDA_SUCCESS);
  ASSERT_EQ(launch(find("traps"), {}, {}), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(empty, {}, {}), CUDA_ERROR_LAUNCH_FAILED);
  CUmodule another = nullptr;
  EXPECT_EQ(cuModuleLoadData(&another, program), CUDA_ERROR_LAUNCH_FAILED);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  std::array<char, 4096> text{};
  std::size_t size = text.size();
  ASSERT_EQ(cuLogsDumpToMemory(&log, text.data(), &size, 0), CUDA_SUCCESS);
  EXPECT_NE(std::string(text.data()).find("traps"), std::string::npos) << text.data();
}

TEST_F(DriverLaunch, FaultsLeaveOtherContextsAlone) {
  CUcontext other = nullptr;
  CUmodule there = nullptr;
  CUfunction traps = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&there, program), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&traps, there, "traps"), CUDA_SUCCESS);
  ASSERT_EQ(launch(traps, {}, {}), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, {}, {}), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DriverOccupancy, BlocksOfAMultiprocessor) {
  int blocks = -1;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 32);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 48 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(blocks, 4);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 100000), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 2048, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 32, 0),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverOccupancy, BlockSizes) {
  int grid = 0;
  int block = 0;
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 32);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, nullptr, 0, 100), CUDA_SUCCESS);
  EXPECT_EQ(block, 64);
  EXPECT_EQ(grid, 512);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(
                &grid, &block, empty,
                [](int size) { return std::size_t{48} * static_cast<std::size_t>(size); }, 0, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(block, 1024);
}

TEST_F(DriverOccupancy, SharedMemoryAndClusters) {
  std::size_t bytes = 0;
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 4, 32), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 49152U);
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, empty, 100, 32),
            CUDA_ERROR_INVALID_VALUE);
  CUlaunchAttribute pair = cluster(2);
  CUlaunchConfig config{};
  config.gridDimX = 16;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &pair;
  config.numAttrs = 1;
  int value = 0;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&value, empty, &config), CUDA_SUCCESS);
  EXPECT_EQ(value, 128);
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&value, empty, &config), CUDA_SUCCESS);
  EXPECT_EQ(value, 8);
}

}  // namespace
}  // namespace cudacore::simulator
