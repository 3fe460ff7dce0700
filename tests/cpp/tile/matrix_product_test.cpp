// SPDX-License-Identifier: Apache-2.0
#include "tile/matrix_product.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tile/parse.hpp"

namespace cudacore::tile {
namespace {

MatrixProduct product_of(const std::string& element, const std::vector<int>& shape, int warps,
                         bool chained) {
  const auto tile = [](const std::string& of, int rows, int columns) {
    return of + "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
  };
  const std::string result = tile("f32", shape[0], shape[1]);
  const std::string a = tile(element, shape[0], shape[2]);
  const std::string b = tile(element, shape[2], shape[1]);
  const std::unique_ptr<Kernel> kernel =
      parse("tile 1\nkernel \"k\" {\n%a = const {value = 0.0} : " + a +
            "\n%b = const {value = 0.0} : " + b + "\n%c = const {value = 0.0} : " + result +
            "\n%d = mma %a, %b, %c : " + result + "\nreturn\n}\n");
  return matrix_product(*kernel->body.operations.at(3), 80, warps, chained);
}

class Layouts : public testing::TestWithParam<std::tuple<std::vector<int>, int, const char*>> {};

TEST_P(Layouts, HaveEachBitOnce) {
  const auto& [shape, warps, element] = GetParam();
  const MatrixProduct product = product_of(element, shape, warps, false);
  const Layout layout = product.result_layout();
  std::vector<int> count(static_cast<std::size_t>(log2(shape[0]) + log2(shape[1])), 0);
  for (const auto& bits : {layout.registers, layout.lanes, layout.warps})
    for (const int bit : bits)
      if (bit >= 0) ++count.at(static_cast<std::size_t>(bit));
  for (const int times : count) EXPECT_EQ(times, 1) << to_string(layout);
  EXPECT_EQ(layout.lanes.size(), 5U);
  EXPECT_EQ(layout.warps.size(), static_cast<std::size_t>(log2(warps)));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Layouts,
    testing::Combine(testing::Values(std::vector<int>{1, 1, 1}, std::vector<int>{8, 8, 8},
                                     std::vector<int>{16, 16, 16}, std::vector<int>{4, 64, 32},
                                     std::vector<int>{128, 2, 16}, std::vector<int>{128, 256, 64}),
                     testing::Values(1, 4, 8), testing::Values("bf16", "f32")));

TEST(MatrixProduct, WarpsMakeSquareParts) {
  const MatrixProduct product = product_of("bf16", {128, 256, 64}, 8, false);
  EXPECT_EQ(product.warps_down, 2);
  EXPECT_EQ(product.warps_across, 4);
  EXPECT_EQ(product.result_registers(), 128);
}

TEST(MatrixProduct, ResultOfAChainIsTheLeftOperandOfTheNext) {
  const MatrixProduct first = product_of("f16", {128, 64, 128}, 4, true);
  const MatrixProduct second = product_of("f16", {128, 128, 64}, 4, true);
  ASSERT_TRUE(second.may_hold());
  EXPECT_EQ(second.held_layout(), first.result_layout());
}

TEST(MatrixProduct, HasInstructionsByArchitecture) {
  EXPECT_TRUE(has_instruction(Element::f16, Element::f16, Element::f32, 75));
  EXPECT_FALSE(has_instruction(Element::bf16, Element::bf16, Element::f32, 75));
  EXPECT_FALSE(has_instruction(Element::e4m3, Element::e4m3, Element::f32, 80));
  EXPECT_TRUE(has_instruction(Element::e4m3, Element::e5m2, Element::f32, 89));
  EXPECT_FALSE(has_instruction(Element::f32, Element::f32, Element::f32, 90));
}

}  // namespace
}  // namespace cudacore::tile
