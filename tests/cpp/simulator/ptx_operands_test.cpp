// SPDX-License-Identifier: Apache-2.0
//
// The opcodes, operands and constants of instructions.
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "simulator/ptx_parser_test_support.hpp"

namespace cudacore::simulator::ptx::testing {
namespace {

/// Keeps the module of a single instruction, and returns its operands.
class Operands {
 public:
  explicit Operands(std::string_view instruction) : module_(parse_body(instruction)) {}
  const Operand& operator[](std::size_t at) const { return first_of(*module_).operands[at]; }
  [[nodiscard]] std::size_t size() const { return first_of(*module_).operands.size(); }
  [[nodiscard]] std::string name(const Operand& operand) const {
    return std::string(entry_of(*module_).registers.at(operand.index).name);
  }
  [[nodiscard]] const Function& function() const { return entry_of(*module_); }

 private:
  std::unique_ptr<Module> module_;
};

std::int64_t value_of(std::string_view expression) {
  const Operands operands("mov.b64 %rd1, " + std::string(expression) + ";");
  EXPECT_EQ(operands[1].kind, Kind::integer) << expression;
  return static_cast<std::int64_t>(operands[1].bits);
}

TEST(PtxParser, ReadsAddresses) {
  EXPECT_EQ(Operands("ld.global.u32 %r1, [%rd2];")[1].offset, 0);
  EXPECT_EQ(Operands("ld.global.u32 %r1, [%rd2+8];")[1].offset, 8);
  EXPECT_EQ(Operands("ld.global.u32 %r1, [%rd2+-8];")[1].offset, -8);
  EXPECT_EQ(Operands("ld.global.u32 %r1, [ %rd2 - 8 ];")[1].offset, -8);
  EXPECT_EQ(Operands("ld.global.u32 %r1, [%rd2+4*8-2];")[1].offset, 30);
  const Operands symbol("ld.global.u32 %r1, [table+4];");
  EXPECT_EQ(symbol[1].kind, Kind::address);
  EXPECT_EQ(symbol[1].base, Operand::Base::symbol);
  EXPECT_EQ(symbol[1].name, "table");
  EXPECT_EQ(symbol[1].offset, 4);
  EXPECT_FALSE(symbol[1].variable_known);
  const Operands parameter("ld.param.u32 %r1, [count];");
  EXPECT_TRUE(parameter[1].variable_known);
  EXPECT_EQ(parameter[1].index, 1U);
  const Operands absolute("ld.local.u32 %r1, [16];");
  EXPECT_EQ(absolute[1].base, Operand::Base::none);
  EXPECT_EQ(absolute[1].offset, 16);
  EXPECT_EQ(Operands("ld.global.u32 %r1, table[2];")[1].offset, 8);
  EXPECT_EQ(Operands("mov.u64 %rd1, table+12;")[1].offset, 12);
}

TEST(PtxParser, ReadsAddressesWithElements) {
  const Operands texture("tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [table, {%r5, %r6}];");
  ASSERT_EQ(texture[1].kind, Kind::address);
  ASSERT_EQ(texture[1].elements.size(), 1U);
  EXPECT_EQ(texture[1].elements[0].kind, Kind::vector);
  EXPECT_EQ(texture[1].elements[0].elements.size(), 2U);
  const Operands bulk(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, "
      "[%r2];");
  EXPECT_EQ(bulk.size(), 4U);
  EXPECT_EQ(bulk[3].kind, Kind::address);
}

TEST(PtxParser, ReadsVectorsPairsAndNegations) {
  const Operands vector("mov.b64 {%r1, _}, %rd1;");
  ASSERT_EQ(vector[0].elements.size(), 2U);
  EXPECT_EQ(vector[0].elements[1].kind, Kind::blank);
  const Operands pair("setp.eq.and.s32 %p1|%p2, %r1, 2, !%p3;");
  ASSERT_EQ(pair.size(), 5U);
  EXPECT_FALSE(pair[0].paired);
  EXPECT_TRUE(pair[1].paired);
  EXPECT_TRUE(pair[4].negated);
  EXPECT_EQ(pair[4].index, 3U);
  const Operands blank("shfl.sync.bfly.b32 _|%p1, %r1, 1, 31, -1;");
  EXPECT_EQ(blank[0].kind, Kind::blank);
  EXPECT_TRUE(blank[1].paired);
  const Operands video("vmad.s32.s32.s32 %r1, -%r2.b3, %r3.h1, %r4;");
  EXPECT_TRUE(video[1].negated);
  EXPECT_EQ(video[1].name, "b3");
  EXPECT_EQ(video[2].name, "h1");
}

TEST(PtxParser, KnowsPredefinedRegisters) {
  for (const std::string name : {"%tid.x",
                                 "%ntid.y",
                                 "%ctaid.z",
                                 "%nctaid.x",
                                 "%laneid",
                                 "%warpid",
                                 "%clock64",
                                 "%globaltimer",
                                 "%envreg31",
                                 "%pm0",
                                 "%pm7_64",
                                 "%dynamic_smem_size",
                                 "%cluster_ctaid.x",
                                 "%is_explicit_cluster",
                                 "%lanemask_lt",
                                 "%gridid",
                                 "%smid",
                                 "WARP_SZ",
                                 "%tid",
                                 "%reserved_smem_offset_1",
                                 "%total_smem_size"}) {
    const Operands operands("mov.u32 %r1, " + name + ";");
    EXPECT_EQ(operands[1].kind, Kind::special) << name;
    EXPECT_EQ(operands[1].name, name);
  }
}

TEST(PtxParser, ReadsNumbers) {
  EXPECT_EQ(value_of("42"), 42);
  EXPECT_EQ(value_of("-1"), -1);
  EXPECT_EQ(value_of("0x1F"), 31);
  EXPECT_EQ(value_of("0xffffffffffffffffU"), -1);
  EXPECT_EQ(value_of("017"), 15);
  EXPECT_EQ(value_of("0b101"), 5);
  EXPECT_EQ(value_of("7U"), 7);
  EXPECT_EQ(value_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(Operands("mov.f32 %r1, 0f3F800000;")[1].bits, 0x3F800000U);
  EXPECT_EQ(Operands("mov.f32 %r1, 0f3F800000;")[1].kind, Kind::f32);
  EXPECT_EQ(Operands("mov.f64 %rd1, 0d4000000000000000;")[1].kind, Kind::f64);
  EXPECT_EQ(Operands("mov.f64 %rd1, -1.5e3;")[1].bits, std::bit_cast<std::uint64_t>(-1500.0));
  EXPECT_EQ(Operands("mov.f32 %r1, -0f3F800000;")[1].bits, 0xBF800000U);
}

TEST(PtxParser, EvaluatesConstantExpressions) {
  EXPECT_EQ(value_of("1+2*3-4/2"), 5);
  EXPECT_EQ(value_of("(1+2)*3"), 9);
  EXPECT_EQ(value_of("7 % 4 << 2 | 1"), 13);
  EXPECT_EQ(value_of("7%4"), 3);
  EXPECT_EQ(value_of("7 %4"), 3);
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("~0 & 0xff ^ 0xf"), 0xf0);
  EXPECT_EQ(value_of("!5 + !0"), 1);
  EXPECT_EQ(value_of("-8 >> 1"), -4);
  EXPECT_EQ(value_of("(.u64)-8 >> 60"), 15);
  EXPECT_EQ(value_of("1 << 64"), 0);
  EXPECT_EQ(value_of("3 > 2 && 2 >= 3 || 0"), 0);
  EXPECT_EQ(value_of("-1 < 1"), 1);
  EXPECT_EQ(value_of("-1 < 1U"), 0);
  EXPECT_EQ(value_of("2 == 2 ? 10 : 20"), 10);
  EXPECT_EQ(value_of("0 ? 10 : 1 != 1 ? 20 : 30"), 30);
  EXPECT_EQ(value_of("(.s64)2.75"), 2);
  EXPECT_EQ(value_of("WARP_SZ - 1"), 31);
  EXPECT_EQ(value_of("(.s64)0x8000000000000000 / -1"), INT64_MIN);
  EXPECT_EQ(Operands("mov.f64 %rd1, 1.0/4.0;")[1].bits, std::bit_cast<std::uint64_t>(0.25));
}

TEST(PtxParser, KeepsOpcodesWhole) {
  const auto module = parse_body(
      "ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%r1, %r2}, [%rd1];\nadd .s32 %r1, %r2, "
      "3;\nret;");
  const auto& instructions = entry_of(*module).instructions;
  EXPECT_EQ(instructions[0].opcode, "ld.global.nc.L1::no_allocate.L2::128B.v2.u32");
  EXPECT_EQ(instructions[1].opcode, "add.s32");
  EXPECT_EQ(instructions[2].opcode, "ret");
  EXPECT_EQ(instructions[2].position.line, 14U);
  EXPECT_EQ(instructions[2].position.column, 1U);
}

TEST(PtxParser, TakesManyOperandsAndDeepBlocks) {
  std::string vector = "{%r1";
  for (int i = 0; i < 5000; ++i) vector += ", %r2";
  const Operands wide("mov.b64 " + vector + "}, %rd1;");
  EXPECT_EQ(wide[0].elements.size(), 5001U);
  EXPECT_EQ(wide[0].elements[5000].index, 6U);
  const std::string deep = std::string(200, '{') + "ret;" + std::string(200, '}');
  EXPECT_EQ(entry_of(*parse_body(deep)).instructions.size(), 1U);
}

}  // namespace
}  // namespace cudacore::simulator::ptx::testing
