// SPDX-License-Identifier: Apache-2.0
//
// What the driver accepts and refuses for tensor maps; an H200 answered the same.
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

/// The arguments of a call; the defaults are good.
struct Call {
  CUtensorMap map{};
  CUtensorMap* to = &map;
  int type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  cuuint32_t rank = 2;
  std::uintptr_t address = 0x123450000;
  std::array<cuuint64_t, 6> lengths{64, 64, 4, 4, 4, 4};
  std::array<cuuint64_t, 5> strides{256, 16384, 65536, 262144, 1048576};
  std::array<cuuint32_t, 6> box{32, 32, 1, 1, 1, 1};
  std::array<cuuint32_t, 6> steps{1, 1, 1, 1, 1, 1};
  int interleave = 0;
  int swizzle = 0;
  int l2_promotion = 0;
  int fill = 0;

  CUresult tiled() {
    return cuTensorMapEncodeTiled(
        to, static_cast<CUtensorMapDataType>(type), rank, reinterpret_cast<void*>(address),
        lengths.data(), strides.data(), box.data(), steps.data(),
        static_cast<CUtensorMapInterleave>(interleave), static_cast<CUtensorMapSwizzle>(swizzle),
        static_cast<CUtensorMapL2promotion>(l2_promotion),
        static_cast<CUtensorMapFloatOOBfill>(fill));
  }
  CUresult im2col(int lower, int upper, cuuint32_t channels, cuuint32_t pixels) {
    const std::array<int, 3> lower_corner{0, lower, 0};
    const std::array<int, 3> upper_corner{0, upper, 0};
    rank = 4;
    return cuTensorMapEncodeIm2col(
        to, static_cast<CUtensorMapDataType>(type), rank, reinterpret_cast<void*>(address),
        lengths.data(), strides.data(), lower_corner.data(), upper_corner.data(), channels, pixels,
        steps.data(), static_cast<CUtensorMapInterleave>(interleave),
        static_cast<CUtensorMapSwizzle>(swizzle), static_cast<CUtensorMapL2promotion>(l2_promotion),
        static_cast<CUtensorMapFloatOOBfill>(fill));
  }
};

CUresult tiled_with(const std::function<void(Call&)>& change) {
  Call call;
  change(call);
  return call.tiled();
}

class DriverTensorMap : public DriverTest {};

TEST_F(DriverTensorMap, AcceptsWhatAnH200Accepts) {
  EXPECT_EQ(Call().tiled(), CUDA_SUCCESS);
  const std::function<void(Call&)> changes[] = {
      [](Call& call) { call.address = 0; },
      [](Call& call) { call.address += 16; },
      [](Call& call) { call.rank = 1; },
      [](Call& call) { call.rank = 5; },
      [](Call& call) { call.lengths[1] = cuuint64_t{1} << 32; },
      [](Call& call) { call.strides[0] = 0; },
      [](Call& call) { call.strides[0] = (cuuint64_t{1} << 40) - 16; },
      [](Call& call) { call.box[0] = 4; },
      [](Call& call) { call.box[1] = 256; },
      [](Call& call) { call.steps = {8, 8, 8, 8, 8, 8}; },
      [](Call& call) { call.swizzle = 3; },
      [](Call& call) { call.l2_promotion = 3; },
      [](Call& call) { call.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, call.fill = 1; },
      [](Call& call) { call.rank = 3, call.interleave = 2, call.swizzle = 1; },
      [](Call& call) { call.rank = 3, call.interleave = 1, call.box[0] = 64, call.swizzle = 1; },
  };
  for (const auto& change : changes) EXPECT_EQ(tiled_with(change), CUDA_SUCCESS);
}

TEST_F(DriverTensorMap, RefusesWhatAnH200Refuses) {
  const std::function<void(Call&)> changes[] = {
      [](Call& call) { call.to = nullptr; },
      [](Call& call) { call.address += 8; },
      [](Call& call) { call.rank = 0; },
      [](Call& call) { call.rank = 6; },
      [](Call& call) { call.lengths[0] = 0; },
      [](Call& call) { call.lengths[1] = (cuuint64_t{1} << 32) + 1; },
      [](Call& call) { call.strides[0] = 24; },
      [](Call& call) { call.strides[0] = cuuint64_t{1} << 40; },
      [](Call& call) { call.box[0] = 0; },
      [](Call& call) { call.box[0] = 6; },
      [](Call& call) { call.box[1] = 257; },
      [](Call& call) { call.steps[0] = 0; },
      [](Call& call) { call.steps[1] = 9; },
      [](Call& call) { call.type = -1; },
      [](Call& call) { call.type = 16; },
      [](Call& call) { call.fill = 1; },
      [](Call& call) { call.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, call.fill = 2; },
      [](Call& call) { call.swizzle = 1; },
      [](Call& call) { call.swizzle = -1; },
      [](Call& call) { call.l2_promotion = 4; },
      [](Call& call) { call.interleave = 1; },
      [](Call& call) { call.rank = 3, call.interleave = 3; },
      [](Call& call) { call.rank = 3, call.interleave = 2, call.swizzle = 1, call.address += 16; },
      [](Call& call) {
        call.rank = 3, call.interleave = 2, call.swizzle = 1, call.strides[0] = 272;
      },
      [](Call& call) { call.rank = 3, call.interleave = 1, call.box[0] = 2; },
  };
  for (const auto& change : changes) EXPECT_EQ(tiled_with(change), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTensorMap, OfPixels) {
  EXPECT_EQ(Call().im2col(0, 0, 64, 4), CUDA_SUCCESS);
  EXPECT_EQ(Call().im2col(-128, 127, 4, 1), CUDA_SUCCESS);
  EXPECT_EQ(Call().im2col(-129, 0, 64, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Call().im2col(0, 128, 64, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Call().im2col(2, -2, 64, 4), CUDA_ERROR_INVALID_VALUE);  // 4 pixels high
  EXPECT_EQ(Call().im2col(0, 0, 0, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Call().im2col(0, 0, 257, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Call().im2col(0, 0, 62, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Call().im2col(0, 0, 64, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Call().im2col(0, 0, 4, 1025), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTensorMap, GetsAnotherAddress) {
  Call call;
  ASSERT_EQ(call.tiled(), CUDA_SUCCESS);
  const CUtensorMap before = call.map;
  const auto replace = [&](std::uintptr_t address) {
    return cuTensorMapReplaceAddress(&call.map, reinterpret_cast<void*>(address));
  };
  EXPECT_EQ(replace(0x123450008), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(replace(0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(std::memcmp(&before, &call.map, sizeof(before)), 0);
  EXPECT_EQ(replace(0x200000010), CUDA_SUCCESS);
  EXPECT_NE(std::memcmp(&before, &call.map, sizeof(before)), 0);
  EXPECT_EQ(replace(0x123450000), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&before, &call.map, sizeof(before)), 0);
}

TEST_F(DriverTensorMap, DevicesSaySo) {
  int supported = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(supported, 1);
}

}  // namespace
}  // namespace cudacore::simulator
