// SPDX-License-Identifier: Apache-2.0
//
// Green contexts, on a device of 16 multiprocessors, which are split in groups of 8.
#include <array>
#include <cstring>

#include "driver_test_support.hpp"
#include "simulator/api/context/device_resources.hpp"

namespace cudacore::simulator {
namespace {

class DriverGreenContext : public DriverTest {
 protected:
  /// The primary context, in which the work runs, outlives the green contexts.
  void SetUp() override {
    DriverTest::SetUp();
    CUcontext primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    DriverTest::TearDown();
  }
  static CUdevResource whole(CUdevice device = 0) {
    CUdevResource resource{};
    EXPECT_EQ(cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    return resource;
  }
  static unsigned count_of(const CUdevResource& resource) {
    return resource.type == CU_DEV_RESOURCE_TYPE_SM ? multiprocessors(resource).count : 0;
  }
  static CUresult split(std::array<unsigned, 2> counts, unsigned flags, CUdevResource* groups,
                        CUdevResource* rest) {
    std::array<CU_DEV_SM_RESOURCE_GROUP_PARAMS, 2> wanted{};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      wanted[i].smCount = counts[i];
      wanted[i].flags = flags;
    }
    const CUdevResource input = whole();
    return cuDevSmResourceSplit(groups, 2, &input, rest, 0, wanted.data());
  }
  static CUgreenCtx make(CUdevResource resource) {
    CUdevResourceDesc descriptor = nullptr;
    CUgreenCtx green = nullptr;
    EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, &resource, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuGreenCtxCreate(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    return green;
  }
};

TEST_F(DriverGreenContext, SplitsByCountInAlignedGroups) {
  const CUdevResource input = whole();
  EXPECT_EQ(count_of(input), 16U);
  unsigned groups = 0;
  EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &input, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(groups, 2U);
  std::array<CUdevResource, 4> parts{};
  CUdevResource rest{};
  groups = 1;
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &input, &rest, 0, 3), CUDA_SUCCESS);
  EXPECT_EQ(groups, 1U);
  EXPECT_EQ(count_of(parts[0]), 8U);
  EXPECT_EQ(count_of(rest), 8U);
  groups = 4;
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &input, &rest,
                                        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 3),
            CUDA_SUCCESS);
  EXPECT_EQ(groups, 4U);
  EXPECT_EQ(count_of(parts[3]), 4U);
  EXPECT_EQ(count_of(rest), 0U);
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &input, &rest, 0, 17),
            CUDA_ERROR_INVALID_VALUE);
  const CUdevResource none{};
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &none, &rest, 0, 8),
            CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

TEST_F(DriverGreenContext, SplitsIntoGroupsOfSeveralSizes) {
  std::array<CUdevResource, 2> parts{};
  CUdevResource rest{};
  EXPECT_EQ(split({8, 0}, 0, parts.data(), &rest), CUDA_SUCCESS);
  EXPECT_EQ(count_of(parts[0]) + count_of(parts[1]), 16U);
  EXPECT_EQ(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);
  EXPECT_EQ(split({6, 2}, 0, parts.data(), &rest), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_EQ(split({6, 2}, 1, parts.data(), &rest), CUDA_SUCCESS);
  EXPECT_EQ(count_of(rest), 8U);
  EXPECT_EQ(split({16, 8}, 0, parts.data(), &rest), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_EQ(split({16, 0}, 0, parts.data(), &rest), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_EQ(split({16, 0}, 0, nullptr, &rest), CUDA_SUCCESS);  // only asks
}

TEST_F(DriverGreenContext, ReportsItsPart) {
  std::array<CUdevResource, 2> parts{};
  EXPECT_EQ(split({8, 8}, 0, parts.data(), nullptr), CUDA_SUCCESS);
  CUgreenCtx green = make(parts[0]);
  CUcontext view = nullptr;
  EXPECT_EQ(cuCtxFromGreenCtx(&view, green), CUDA_SUCCESS);
  CUdevResource resource{};
  EXPECT_EQ(cuCtxGetDevResource(view, &resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  EXPECT_EQ(count_of(resource), 8U);
  unsigned long long id = 0;
  unsigned long long own_id = 0;
  EXPECT_EQ(cuGreenCtxGetId(green, &id), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(context, &own_id), CUDA_SUCCESS);
  EXPECT_NE(id, own_id);
  CUstream stream = nullptr;
  EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, -1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetDevResource(stream, &resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  EXPECT_EQ(count_of(resource), 8U);
  CUcontext of_stream = nullptr;
  EXPECT_EQ(cuStreamGetCtx(stream, &of_stream), CUDA_SUCCESS);
  EXPECT_EQ(of_stream, view);
  CUgreenCtx green_of_stream = nullptr;
  EXPECT_EQ(cuStreamGetGreenCtx(stream, &green_of_stream), CUDA_SUCCESS);
  EXPECT_EQ(green_of_stream, green);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), 917);  // CUDA_ERROR_STREAM_DETACHED
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(DriverGreenContext, CanBeCurrent) {
  CUgreenCtx green = make(whole());
  CUcontext view = nullptr;
  CUcontext current = nullptr;
  EXPECT_EQ(cuCtxFromGreenCtx(&view, green), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent_v2(view), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, view);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 16), CUDA_SUCCESS);
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 1, 16, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetCtx(stream, &current), CUDA_SUCCESS);
  EXPECT_EQ(current, view);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(view), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
}

TEST_F(DriverGreenContext, RefusesResourcesThatDontFitTogether) {
  std::array<CUdevResource, 2> parts{whole(0), whole(1)};
  CUdevResourceDesc descriptor = nullptr;
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, parts.data(), 2),
            CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, parts.data(), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, &parts[1], 1), CUDA_SUCCESS);
  CUgreenCtx green = nullptr;
  EXPECT_EQ(cuGreenCtxCreate(&green, descriptor, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGreenCtxCreate(&green, nullptr, 0, 1), CUDA_ERROR_INVALID_VALUE);
  parts[0] = {};
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, parts.data(), 1),
            CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

}  // namespace
}  // namespace cudacore::simulator
