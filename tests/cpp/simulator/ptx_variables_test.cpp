// SPDX-License-Identifier: Apache-2.0
//
// Variables and their initial values.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulator/ptx_parser_test_support.hpp"

namespace cudacore::simulator::ptx::testing {
namespace {

template <typename T>
T value_at(const Variable& variable, std::size_t index) {
  T value{};
  EXPECT_LE((index + 1) * sizeof(T), variable.initial.size());
  std::memcpy(&value, variable.initial.data() + index * sizeof(T), sizeof(T));
  return value;
}

TEST(PtxParser, ReadsVariables) {
  const auto module = parse_module(
      ".visible .global .attribute(.managed) .align 8 .u32 managed;\n"
      ".extern .shared .align 16 .b8 dynamic[];\n.shared .v4 .f32 tile[4][8];\n"
      ".weak .const .align 4 .b32 weak = 3;\n.common .global .u32 shared_name;\n"
      ".extern .global .u32 later;\n.global .u32 later = 1, other;\n.const[2] .u32 banked;\n");
  const auto& variables = module->variables;
  ASSERT_EQ(variables.size(), 9U);
  EXPECT_TRUE(variables[0].managed);
  EXPECT_EQ(variables[0].align, 8U);
  EXPECT_EQ(variables[0].linkage, Linkage::visible);
  EXPECT_EQ(variables[1].size, 0U);
  EXPECT_TRUE(variables[1].is_array);
  EXPECT_EQ(variables[1].space, Space::shared);
  EXPECT_EQ(variables[2].size, 4U * 8U * 16U);
  EXPECT_EQ(variables[2].align, 16U);
  EXPECT_EQ(variables[2].vector, 4U);
  EXPECT_EQ(variables[3].space, Space::constant);
  EXPECT_EQ(variables[4].linkage, Linkage::common);
  EXPECT_TRUE(variables[7].initial.empty());
}

TEST(PtxParser, ReadsInitialValues) {
  const auto module = parse_module(
      ".global .u8 bytes[6] = {1, -1, 300, 0x7f};\n.global .s32 grid[2][3] = {{1, 2}, {-3}};\n"
      ".global .f32 reals[4] = {0f3F800000, 2.5, -1.0, 0d3FF0000000000000};\n"
      ".global .f64 wide[] = {1.5, 0f40000000, 1.0/4.0};\n.global .b64 bits = 0d3FF0000000000000;\n"
      ".global .v2 .u16 pairs[2] = {{1, 2}, {3}};\n.const .u64 none = 0;\n.global .u32 nothing[2] "
      "= {};\n");
  const auto& v = module->variables;
  EXPECT_EQ(v[0].initial.size(), 6U);
  EXPECT_EQ(value_at<std::uint8_t>(v[0], 1), 255);
  EXPECT_EQ(value_at<std::uint8_t>(v[0], 2), 44);
  EXPECT_EQ(value_at<std::uint8_t>(v[0], 5), 0);
  EXPECT_EQ(value_at<std::int32_t>(v[1], 1), 2);
  EXPECT_EQ(value_at<std::int32_t>(v[1], 2), 0);
  EXPECT_EQ(value_at<std::int32_t>(v[1], 3), -3);
  EXPECT_EQ(value_at<float>(v[2], 0), 1.0F);
  EXPECT_EQ(value_at<float>(v[2], 1), 2.5F);
  EXPECT_EQ(value_at<float>(v[2], 2), -1.0F);
  EXPECT_EQ(value_at<float>(v[2], 3), 1.0F);
  EXPECT_EQ(v[3].size, 24U);
  EXPECT_EQ(value_at<double>(v[3], 1), 2.0);
  EXPECT_EQ(value_at<double>(v[3], 2), 0.25);
  EXPECT_EQ(value_at<double>(v[4], 0), 1.0);
  EXPECT_EQ(value_at<std::uint16_t>(v[5], 2), 3);
  EXPECT_EQ(value_at<std::uint16_t>(v[5], 3), 0);
  EXPECT_EQ(v[6].initial.size(), 8U);
  EXPECT_EQ(v[7].initial.size(), 8U);
}

TEST(PtxParser, ReadsAddressesAsInitialValues) {
  const auto module = parse_module(
      ".func f;\n.global .u32 foo[4];\n"
      ".global .u64 a[6] = {0, foo, foo+8, generic(foo), generic(foo)+4, f};\n"
      ".global .u8 b[3] = {0xff(foo), 0xFF00(generic(foo)), 0xff0000(foo+4)};\n"
      ".global .u64 ahead = later;\n.global .u32 later;\n");
  const auto& a = module->variables[1].relocations;
  ASSERT_EQ(a.size(), 5U);
  EXPECT_EQ(a[0].offset, 8U);
  EXPECT_EQ(a[1].addend, 8);
  EXPECT_FALSE(a[1].generic);
  EXPECT_TRUE(a[2].generic);
  EXPECT_EQ(a[3].addend, 4);
  EXPECT_EQ(a[4].symbol, "f");
  const auto& b = module->variables[2].relocations;
  ASSERT_EQ(b.size(), 3U);
  EXPECT_EQ(b[1].size, 1U);
  EXPECT_EQ(b[1].shift, 8U);
  EXPECT_TRUE(b[1].generic);
  EXPECT_EQ(b[2].shift, 16U);
  EXPECT_EQ(b[2].addend, 4);
}

TEST(PtxTypes, HaveNamesAndSizes) {
  EXPECT_EQ(size_of(Type::pred), 0U);
  EXPECT_EQ(size_of(Type::b128), 16U);
  EXPECT_EQ(size_of(Type::bf16x2), 4U);
  EXPECT_EQ(size_of(Type::f64), 8U);
  EXPECT_EQ(name_of(Type::f16x2), "f16x2");
  EXPECT_EQ(name_of(Type::s64), "s64");
}

}  // namespace
}  // namespace cudacore::simulator::ptx::testing
