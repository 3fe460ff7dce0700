// SPDX-License-Identifier: Apache-2.0
#include "cudacore/tensor_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "fake_driver.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::FakeDriver;
using testing::message_of;

int calls = 0;
CUresult answer = CUDA_SUCCESS;

/// The words of a map are the call's arguments.
CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* lengths, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* steps, CUtensorMapInterleave /*interleave*/,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion /*l2_promotion*/,
                      CUtensorMapFloatOOBfill /*fill*/) {
  ++calls;
  auto* word = reinterpret_cast<cuuint64_t*>(map);  // which may be aligned to 64 bytes alone
  *word++ = reinterpret_cast<std::uintptr_t>(address);
  *word++ = rank;
  word = std::copy_n(lengths, rank, word);
  word = std::copy_n(strides, rank - 1, word);
  word = std::copy_n(box, rank, word);
  word = std::copy_n(steps, rank, word);
  *word++ = swizzle;
  *word = type;
  return answer;
}

CUresult encode_im2col(CUtensorMap* map, CUtensorMapDataType /*type*/, cuuint32_t rank,
                       void* address, const cuuint64_t* /*lengths*/, const cuuint64_t* strides,
                       const int* lower, const int* upper, cuuint32_t channels, cuuint32_t pixels,
                       const cuuint32_t* /*steps*/, CUtensorMapInterleave /*interleave*/,
                       CUtensorMapSwizzle /*swizzle*/, CUtensorMapL2promotion /*l2_promotion*/,
                       CUtensorMapFloatOOBfill /*fill*/) {
  ++calls;
  auto* word = reinterpret_cast<cuuint64_t*>(map);  // which may be aligned to 64 bytes alone
  *word++ = reinterpret_cast<std::uintptr_t>(address);
  *word++ = rank;
  word = std::copy_n(strides, rank - 1, word);
  word = std::copy_n(lower, rank - 2, word);
  word = std::copy_n(upper, rank - 2, word);
  *word++ = channels;
  *word = pixels;
  return answer;
}

CUresult replace_address(CUtensorMap* map, void* address) {
  *reinterpret_cast<cuuint64_t*>(map) = reinterpret_cast<std::uintptr_t>(address);
  return answer;
}

class TensorMaps : public ::testing::Test {
 protected:
  void SetUp() override {
    calls = 0;
    answer = CUDA_SUCCESS;
    fake.table().cuTensorMapEncodeTiled = &encode_tiled;
    fake.table().cuTensorMapEncodeIm2col = &encode_im2col;
    fake.table().cuTensorMapReplaceAddress = &replace_address;
    FakeDriver::set_current(Device(0).context().handle());
  }

  static TensorMapTensor tensor() {
    return {.address = 0x10000, .shape = {8, 64}, .data_type = TensorMapDataType::float32};
  }
  static TensorMapDescriptor make(const TensorMapTensor& described,
                                  const TensorMapOptions& options = {}) {
    constexpr std::array<std::int64_t, 2> box{4, 32};
    return TensorMapDescriptor::tiled(described, box, options);
  }
  static TensorMapTensor images() {
    return {.address = 0x10000, .shape = {2, 8, 9, 32}, .data_type = TensorMapDataType::float16};
  }
  static std::string refusal(const TensorMapTensor& described) {
    return message_of<std::invalid_argument>([&] { (void)make(described); });
  }

  FakeDriver& fake = FakeDriver::fresh();
};

TEST_F(TensorMaps, TellTheDriverTheInnermostDimensionFirst) {
  const TensorMapDescriptor made =
      make(tensor(), {.element_strides = {2, 1}, .swizzle = TensorMapSwizzle::bytes_128});
  const auto& words = made.bytes().opaque;
  EXPECT_EQ(words[0], 0x10000U);
  EXPECT_EQ(words[1], 2U);   // the rank
  EXPECT_EQ(words[2], 64U);  // lengths
  EXPECT_EQ(words[3], 8U);
  EXPECT_EQ(words[4], 256U);  // bytes from row to row
  EXPECT_EQ(words[5], 32U);   // the box
  EXPECT_EQ(words[6], 4U);
  EXPECT_EQ(words[7], 1U);  // steps
  EXPECT_EQ(words[8], 2U);
  EXPECT_EQ(words[9], unsigned{CU_TENSOR_MAP_SWIZZLE_128B});
  EXPECT_EQ(words[10], unsigned{CU_TENSOR_MAP_DATA_TYPE_FLOAT32});
  EXPECT_EQ(made.str(), "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&made.bytes()) % 64, 0U);
}

TEST_F(TensorMaps, OfPixels) {
  const TensorMapPixels pixels{{-1, -2}, {3, 4}, 32, 16};
  const TensorMapDescriptor made = TensorMapDescriptor::im2col(images(), pixels);
  const auto& words = made.bytes().opaque;
  EXPECT_EQ(static_cast<std::int64_t>(words[5]), -2);  // of the width
  EXPECT_EQ(static_cast<std::int64_t>(words[6]), -1);
  EXPECT_EQ(words[7], 4U);
  EXPECT_EQ(words[8], 3U);
  EXPECT_EQ(words[9], 32U);
  EXPECT_EQ(words[10], 16U);
}

TEST_F(TensorMaps, ShareTheMemory) {
  auto memory = std::make_shared<int>(1);
  TensorMapTensor described = tensor();
  described.memory = memory;
  TensorMapDescriptor made = make(described);
  described.memory.reset();
  EXPECT_EQ(memory.use_count(), 2);
  auto other = std::make_shared<int>(2);
  made.replace_address(0x20000, other);
  EXPECT_EQ(made.bytes().opaque[0], 0x20000U);
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(other.use_count(), 2);
}

TEST_F(TensorMaps, AFailureChangesNothing) {
  TensorMapDescriptor made = make(tensor());
  answer = CUDA_ERROR_INVALID_VALUE;
  EXPECT_THROW(made.replace_address(0x20000), InvalidValueError);
  EXPECT_EQ(made.bytes().opaque[0], 0x10000U);
  EXPECT_THROW((void)make(tensor()), InvalidValueError);
}

TEST_F(TensorMaps, WhatIsWrongIsSaidWithoutTheDriver) {
  TensorMapTensor wrong = tensor();
  wrong.address += 8;
  EXPECT_TRUE(contains(refusal(wrong), "16-byte aligned, got address 0x10008"));
  wrong = tensor();
  wrong.strides = {65, 1};
  EXPECT_TRUE(contains(refusal(wrong), "strides[0] must be a multiple of 16 bytes, got 260"));
  wrong.strides = {64};
  EXPECT_TRUE(contains(refusal(wrong), "strides must have 2 elements"));
  wrong = tensor();
  wrong.shape = {8, (std::int64_t{1} << 32) + 4};
  EXPECT_TRUE(contains(refusal(wrong), "shape[1] must be in [1, 4294967296]"));
  wrong.shape = {8, 8, 8, 8, 8, 8};
  EXPECT_TRUE(contains(refusal(wrong), "rank must be between 1 and 5, got 6"));
  const TensorMapPixels none{{8, 0}, {0, 0}, 32, 16};
  EXPECT_THROW((void)TensorMapDescriptor::im2col(images(), none), std::invalid_argument);
  EXPECT_EQ(calls, 0);
}

TEST_F(TensorMaps, NeedADeviceThatHasThem) {
  FakeDriver::set_current(Device(1).context().handle());
  EXPECT_THROW((void)make(tensor()), NotSupportedError);
  FakeDriver::set_current(Device(0).context().handle());
  const TensorMapPixels pixels{{0}, {0}, 32, 16};
  const TensorMapOptions swizzled{.swizzle = TensorMapSwizzle::bytes_128};
  EXPECT_THROW((void)TensorMapDescriptor::im2col_wide(images(), pixels, TensorMapIm2ColWideMode::w,
                                                      swizzled),
               NotSupportedError);
  EXPECT_THROW(
      (void)TensorMapDescriptor::im2col_wide(images(), pixels, TensorMapIm2ColWideMode::w, {}),
      std::invalid_argument);
}

}  // namespace
}  // namespace cudacore
