// SPDX-License-Identifier: Apache-2.0
#include "tile/layout.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tile/assign_layouts.hpp"
#include "tile/conversions.hpp"
#include "tile/divisors.hpp"
#include "tile/exchange.hpp"
#include "tile/matrix_lowering.hpp"
#include "tile/parse.hpp"

namespace cudacore::tile {
namespace {

TEST(TileLayout, FillsRegistersLanesWarps) {
  const Layout layout = blocked({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2, 2);
  EXPECT_EQ(layout.registers, (std::vector<int>{0, 1, 9, 10}));
  EXPECT_EQ(layout.lanes, (std::vector<int>{2, 3, 4, 5, 6}));
  EXPECT_EQ(layout.warps, (std::vector<int>{7, 8}));
  EXPECT_EQ(layout.register_part(0b1101), 0b11000000001);
  EXPECT_FALSE(layout.is_replicated());
}

TEST(TileLayout, ReplicatesSmallTiles) {
  const Layout layout = blocked({0, 1, 2}, 0, 1);
  EXPECT_EQ(layout.lanes, (std::vector<int>{0, 1, 2, -1, -1}));
  EXPECT_TRUE(layout.is_replicated());
}

TEST(TileLayout, ConvertsByRenamingWhereThreadsAgree) {
  const Layout a = blocked({0, 1, 2, 3, 4, 5, 6}, 1, 0);
  Layout b = a;
  std::swap(b.registers[0], b.registers[1]);
  EXPECT_EQ(exchange(a, b), Exchange::rename);
  const Layout c = blocked({6, 5, 4, 3, 2, 1, 0}, 1, 0);
  EXPECT_EQ(exchange(a, c), Exchange::warp);
  const Layout d = blocked({0, 1, 2, 3, 4, 5, 6}, 1, 1);
  const Layout e = blocked({6, 5, 4, 3, 2, 1, 0}, 1, 1);
  EXPECT_EQ(exchange(d, e), Exchange::block);
}

// The banks that the lanes of a warp touch at once with one 4-byte access each.
std::size_t banks(const Layout& layout, const std::vector<std::int64_t>& positions) {
  std::set<std::int64_t> seen;
  for (int lane = 0; lane < 32; ++lane) {
    std::int64_t position = 0;
    for (int bit = 0; bit < 5; ++bit)
      if (((lane >> bit) & 1) != 0)
        position ^=
            positions[static_cast<std::size_t>(layout.lanes[static_cast<std::size_t>(bit)])];
    seen.insert(position % 32);
  }
  return seen.size();
}

TEST(TileLayout, SpreadsTransposesOverBanks) {
  std::vector<int> rows;
  std::vector<int> columns;
  for (int bit = 0; bit < 10; ++bit) rows.push_back(bit);
  for (int bit = 0; bit < 10; ++bit) columns.push_back((bit + 5) % 10);
  const Layout from = blocked(rows, 0, 2);
  const Layout to = blocked(columns, 0, 2);
  const std::vector<std::int64_t> positions = bank_positions(from, to, 10, 4);
  EXPECT_EQ(banks(from, positions), 32U);
  EXPECT_EQ(banks(to, positions), 32U);
}

TEST(TileLayout, TurnsSquaresOfElementsInVectors) {
  const auto kernel = parse(R"(tile 1
kernel "k" {
  param %p : ptr<bf16> {align = 16}
  param %n : i32 {div = 16}
  %x = load %p, origin(0, 0), shape(%n, %n), strides(%n, 1) : bf16[64,64]
  %y = permute %x {axes = (1, 0)} : bf16[64,64]
  store %p, %y, origin(0, 0), shape(%n, %n), strides(%n, 1)
  return
})");
  find_divisors(*kernel);
  assign_layouts(*kernel, {}, MatrixLowering(80));
  insert_conversions(*kernel, {}, MatrixLowering(80));
  const Operation& convert = *kernel->body.operations[2];
  ASSERT_TRUE(convert.is("convert"));
  const Layout& from = convert.operand(0)->layout;
  const Layout& to = convert.result()->layout;
  EXPECT_EQ(run_registers(from, 2), (std::vector<int>{3, 4}));
  EXPECT_EQ(run_registers(to, 2), (std::vector<int>{0, 1, 2}));
  // Lanes that move vectors at the same time touch other banks each.
  const std::vector<std::int64_t> positions = bank_positions(from, to, 12, 2);
  const auto places = [&](const Layout& layout, int lanes, int vector) {
    std::set<std::int64_t> seen;
    for (int lane = 0; lane < lanes; ++lane) {
      std::int64_t position = 0;
      for (std::size_t bit = 0; bit < 5; ++bit)
        if (((lane >> bit) & 1) != 0)
          position ^= positions[static_cast<std::size_t>(layout.lanes[bit])];
      seen.insert(position % 64 / vector);
    }
    return seen.size();
  };
  EXPECT_EQ(places(from, 16, 4), 16U);
  EXPECT_EQ(places(to, 8, 8), 8U);
}

TEST(TileLayout, LoadsVectorsWhereAlignmentAllows) {
  const auto vector_bits = [](const char* facts) {
    const auto kernel =
        parse(std::string("tile 1\nkernel \"k\" {\nparam %p : ptr<f32> {align = 16}\n"
                          "param %n : i32\nparam %s : i32") +
              facts +
              "\n%x = load %p, origin(0, 0), shape(%n, %n), strides(%s, 1) : f32[64,64]\n"
              "store %p, %x, origin(0, 0), shape(%n, %n), strides(%s, 1)\nreturn\n}\n");
    find_divisors(*kernel);
    Target target;
    assign_layouts(*kernel, target, MatrixLowering(80));
    int bits = 0;
    const Layout& layout = kernel->body.operations[0]->result()->layout;
    while (layout.registers[static_cast<std::size_t>(bits)] == bits) ++bits;
    return bits;
  };
  EXPECT_EQ(vector_bits(" {div = 16}"), 2);
  EXPECT_EQ(vector_bits(" {div = 2}"), 1);
  EXPECT_EQ(vector_bits(""), 0);
}

}  // namespace
}  // namespace cudacore::tile
