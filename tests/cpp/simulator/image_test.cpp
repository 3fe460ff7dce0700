// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/image.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/image_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

TEST_F(ImageTest, LaysOutParametersOfKernels) {
  const auto image = load(R"(
.visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d)
.maxntid 64, 2, 1
{ ret; })");
  ASSERT_EQ(image->entries().size(), 1u);
  const Function& k = *image->find_entry("k");
  ASSERT_EQ(k.parameters.size(), 4u);
  EXPECT_EQ(k.parameters[0].offset, 0u);
  EXPECT_EQ(k.parameters[1].offset, 8u);
  EXPECT_EQ(k.parameters[2].offset, 16u);
  EXPECT_EQ(k.parameters[2].size, 20u);
  EXPECT_EQ(k.parameters[3].offset, 36u);
  EXPECT_EQ(k.parameter_bytes, 38u);
  EXPECT_EQ(k.max_threads, 128u);
  EXPECT_EQ(image->find_entry("other"), nullptr);
  EXPECT_EQ(image->ptx_version(), 83u);
}

TEST_F(ImageTest, EndsEachFunctionAndPointsLabelsAtInstructions) {
  const auto image = load(R"(
.visible .entry k(.param .u32 n)
{
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  ld.param.u32 %r1, [n];
L:
  add.u32 %r1, %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 100;
  @%p1 bra L;
  @!%p1 bra End;
End:
})");
  const Function& k = *image->find_entry("k");
  ASSERT_EQ(k.opcodes.size(), k.code.size());
  EXPECT_EQ(k.opcodes.back(), "ret");
  std::vector<const Instruction*> branches;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    if (k.opcodes[i] == "bra") branches.push_back(&k.code[i]);
  }
  ASSERT_EQ(branches.size(), 2u);
  // The label comes before the read of %tid.x that the addition needs.
  EXPECT_EQ(k.opcodes[branches[0]->imm], "add.u32");
  EXPECT_EQ(k.opcodes[branches[0]->imm - 1], "ld.param.u32");
  EXPECT_EQ(branches[0]->guard_flip, 0u);
  EXPECT_EQ(branches[1]->imm, k.code.size() - 1);
  EXPECT_EQ(branches[1]->guard_flip, all_lanes);
  EXPECT_EQ(branches[1]->guard, branches[0]->guard);
  EXPECT_EQ(k.places[k.code.front().where].ptx_line, 9u);
}

TEST_F(ImageTest, GivesEqualConstantsOneRow) {
  const auto image = load(R"(
.visible .entry k() { .reg .b32 %r<4>; .reg .f32 %f<4>;
  mov.b32 %r1, 7;
  add.u32 %r2, %r1, 7;
  add.f32 %f1, %f1, 1.5;
  add.f32 %f2, %f1, 0f3FC00000;
})");
  const Function& k = *image->find_entry("k");
  EXPECT_EQ(k.code[0].op[1], k.code[1].op[2]);
  EXPECT_EQ(k.code[2].op[2], k.code[3].op[2]);
  ASSERT_GE(k.code[2].op[2], k.constants_begin);
  for (const auto& [row, wanted] :
       {std::pair{k.code[0].op[1], 7u}, std::pair{k.code[2].op[2], 0x3FC00000u}}) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::uint32_t value = 0;
      std::memcpy(&value, k.constants.data() + (row - k.constants_begin) + lane * sizeof value,
                  sizeof value);
      EXPECT_EQ(value, wanted);
    }
  }
  EXPECT_GE(k.frame_bytes, k.constants_begin + k.constants.size());
  EXPECT_EQ(k.frame_bytes % 64, 0u);
}

TEST_F(ImageTest, SharesRowsOfRegistersWhoseLivesDoNotMeet) {
  const auto image = load(R"(
.visible .entry k()
{
  .reg .b32 %r<9>;
  mov.b32 %r1, 1;
  add.u32 %r2, %r1, %r1;
  add.u32 %r3, %r2, %r2;
  add.u32 %r4, %r3, %r3;
})");
  const Function& k = *image->find_entry("k");
  EXPECT_NE(k.code[1].op[0], k.code[1].op[1]);  // a source that ends here is not the destination
  EXPECT_EQ(k.code[2].op[0], k.code[0].op[0]);
}

TEST_F(ImageTest, KeepsValuesThatALoopCarries) {
  const auto image = load(R"(
.visible .entry k()
{
  .reg .b32 %r<9>;
  .reg .pred %p<2>;
  mov.b32 %r1, 0;
L:
  mov.b32 %r2, 3;
  add.u32 %r1, %r1, %r2;
  setp.lt.u32 %p1, %r1, 10;
  @%p1 mov.b32 %r3, %r1;
  mov.b32 %r4, %r3;
  @%p1 bra L;
})");
  const Function& k = *image->find_entry("k");
  const std::uint32_t r1 = k.code[0].op[0];
  const std::uint32_t r2 = k.code[1].op[0];
  const std::uint32_t r3 = k.code[4].op[0];
  const std::uint32_t r4 = k.code[5].op[0];
  EXPECT_NE(r1, r2);
  EXPECT_NE(r1, r4);
  // Lanes that the guard excludes keep their value from the previous turn.
  EXPECT_NE(r3, r1);
  EXPECT_NE(r3, r2);
  EXPECT_NE(r3, r4);
}

/// The window address that a kernel's first mov gets.
std::uint32_t first_address(const Function& function) {
  std::uint64_t value = 0;
  std::memcpy(&value,
              function.constants.data() + (function.code[0].op[1] - function.constants_begin),
              sizeof value);
  return static_cast<std::uint32_t>(value);
}

TEST_F(ImageTest, LaysOutSharedMemoryForEachKernel) {
  const auto entry = [](const std::string& name, const std::string& own, const std::string& body) {
    return ".visible .entry " + name + "() { .reg .b64 %rd<3>; .shared .align " + own +
           "; mov.u64 %rd1, own; " + body + " }\n";
  };
  const auto image = load(R"(
.shared .align 4 .b8 common[100];
.extern .shared .align 16 .b8 dynamic[];
.func f() { .reg .b64 %rd<2>; mov.u64 %rd1, common; ret; }
.visible .entry d() { ret; }
)" + entry("a", "8 .b8 own[64]", "call f;") +
                          entry("b", "32 .b8 own[1000]", "mov.u64 %rd2, dynamic; call f;") +
                          entry("c", "8 .b8 own[8]", ""));
  const Function& a = *image->find_entry("a");
  const Function& b = *image->find_entry("b");
  const Function& c = *image->find_entry("c");
  EXPECT_EQ(first_address(a), shared_begin + 104);
  EXPECT_EQ(a.shared_bytes, 168u);
  EXPECT_EQ(first_address(b), shared_begin + 128);
  EXPECT_EQ(b.shared_bytes, 1136u);  // 1128, and dynamic memory is aligned
  EXPECT_EQ(first_address(c), shared_begin);
  EXPECT_EQ(c.shared_bytes, 8u);
  EXPECT_EQ(image->find_entry("d")->shared_bytes, 0u);
}

TEST_F(ImageTest, LimitsStaticSharedMemory) {
  expect_error(R"(.visible .entry k()
{
  .shared .align 4 .b8 big[50000];
  .reg .b64 %rd<2>;
  mov.u64 %rd1, big;
})",
               Kind::too_large, "50000 bytes");
}

TEST_F(ImageTest, MeasuresStacks) {
  const auto image = load(R"(
.func leaf() { .local .align 8 .b8 l[100]; ret; }
.func middle() { .local .align 8 .b8 l[20]; call leaf; ret; }
.func again() { .local .align 8 .b8 l[20]; call again; ret; }
.visible .entry k() { .local .align 4 .b8 l[4]; call leaf; call middle; }
.visible .entry r() { call again; }
.visible .entry p(.param .u64 f)
{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [f]; P: .callprototype _ (); call %rd1, (), P; })");
  const Function& k = *image->find_entry("k");
  EXPECT_EQ(k.local_bytes, 4u);
  EXPECT_EQ(k.stack_bytes, 16u + 32u + 112u);
  EXPECT_FALSE(k.recursive);
  EXPECT_TRUE(image->find_entry("r")->recursive);
  EXPECT_TRUE(image->find_entry("p")->recursive);
}

TEST_F(ImageTest, KeepsLocationsOfTheSource) {
  const auto image = load(R"(
.file 1 "kernel.cu"
.visible .entry k()
{
  .loc 1 17 3
  bar.sync 0;
})");
  const Function& k = *image->find_entry("k");
  const Place& place = k.places[k.code[0].where];
  EXPECT_EQ(place.line, 17u);
  EXPECT_EQ(place.ptx_line, 9u);
  ASSERT_LT(place.file, image->files().size());
  EXPECT_EQ(image->files()[place.file], "kernel.cu");
}

TEST_F(ImageTest, WidensAndNarrowsValues) {
  const auto image = load(R"(
.visible .entry k(.param .u64 p)
{
  .reg .b16 %h<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.global.s8 %r1, [%rd1];
  st.global.u8 [%rd1+4], %r1;
})");
  const Function& k = *image->find_entry("k");
  ASSERT_EQ(k.code.size(), 6u);
  // Loaded into a row of bytes, then extended; truncated, then stored.
  EXPECT_EQ(k.code[2].op[1], k.code[1].op[0]);
  EXPECT_EQ(k.code[3].op[1], k.code[2].op[0]);
  EXPECT_EQ(k.code[4].imm, 4u);
}

TEST_F(ImageTest, GivesFunctionsParametersInRegisters) {
  const auto image = load(R"(
.func (.reg .b32 r) add_one(.reg .b32 a) { add.u32 r, a, 1; ret; }
.visible .entry k()
{
  .reg .b32 %r<3>;
  mov.b32 %r1, 4;
  call (%r2), add_one, (%r1);
  call (%r2), add_one, (5);
})");
  const Function& k = *image->find_entry("k");
  // mov; twice: store the argument, call, load the result; ret
  EXPECT_EQ(k.code.size(), 8u);
  EXPECT_EQ(k.code[1].op[0], k.code[0].op[0]);
}

}  // namespace
}  // namespace cudacore::simulator::testing
