// SPDX-License-Identifier: Apache-2.0
//
// What an image is not made of, and what the message says.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "simulator/image_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

TEST_F(ImageTest, RefusesKernelsOfWhatIsNotSimulated) {
  const auto image = load(R"(
.global .texref picture;
.global .surfref canvas;
.global .samplerref smooth = { addr_mode_0 = wrap, filter_mode = linear };
.extern .func (.param .b32 r) cudaDeviceSynchronize();
.func sample() {
  .reg .f32 %f<5>;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, smooth, {%f1, %f2}];
  ret;
}
.func between() { call sample; ret; }
.visible .entry direct() { .reg .b32 %r<2>; txq.width.b32 %r1, [picture]; ret; }
.visible .entry indirect(.param .u32 n) { call between; ret; }
.visible .entry names() { .reg .b64 %rd<2>; mov.b64 %rd1, canvas; ret; }
.visible .entry takes(.param .texref t) { ret; }
.visible .entry launches() { .param .b32 r; call (r), cudaDeviceSynchronize; ret; }
.visible .entry multiplies() { wgmma.fence.sync.aligned; ret; }
.visible .entry runs(.param .u64 p) { ret; })");
  const auto refusal = [&](std::string_view name) { return image->find_entry(name)->refusal; };
  ASSERT_EQ(image->entries().size(), 7u);
  EXPECT_EQ(refusal("runs"), "");
  EXPECT_FALSE(image->find_entry("runs")->code.empty());
  EXPECT_EQ(refusal("direct"),
            "line 15, column 64: the texture, sampler or surface 'picture' is not simulated in "
            "kernel 'direct'");
  EXPECT_EQ(refusal("indirect"),
            "line 11, column 43: the texture, sampler or surface 'picture' is not simulated in "
            "function 'sample', which the kernel 'indirect' may call");
  EXPECT_EQ(image->find_entry("indirect")->parameters.size(), 1u);
  EXPECT_NE(refusal("names").find("the texture, sampler or surface 'canvas' is not simulated"),
            std::string::npos);
  EXPECT_NE(refusal("takes").find("the texture, sampler or surface 't' is not simulated"),
            std::string::npos);
  EXPECT_NE(refusal("launches").find("dynamic parallelism"), std::string::npos);
  EXPECT_NE(refusal("multiplies").find("'wgmma.fence.sync.aligned' is not simulated in kernel"),
            std::string::npos);
  for (const Function* entry : image->entries()) {
    EXPECT_EQ(entry->code.empty(), entry->name != "runs") << entry->name;
  }
  EXPECT_EQ(image->find_global("picture"), nullptr);
  EXPECT_TRUE(memory.pieces.empty());
}

TEST_F(ImageTest, RefusesPtxOfOtherRules) {
  expect_error_of_all({module_of(".entry k() { ret; }", "sm_13", "1.4")}, Kind::not_simulated,
                      ".version 1.4, .target sm_13: PTX for GPUs before sm_20 has its own rules");
  EXPECT_NE(load_all({module_of(".entry k() { ret; }", "sm_20", "2.0")})->find_entry("k"), nullptr);
}

TEST_F(ImageTest, LoadsBesideWhatNoKernelReaches) {
  const auto image = load(R"(
.extern .func g();
.func unused() { call g; ret; }
.func caller() { call unused; ret; }
.visible .entry k() { ret; })");
  EXPECT_NE(image->find_entry("k"), nullptr);
}

TEST_F(ImageTest, NamesWhatItDoesNotKnow) {
  expect_error(R"(.visible .entry k()
{
  foo.bar;
})",
               Kind::unknown, "line 6, column 3: unknown instruction 'foo.bar' in kernel 'k'");
  expect_error(".visible .entry k() { .reg .b32 %r<2>; add.f99 %r1, %r1, %r1; }", Kind::unknown,
               "unknown modifiers of 'add' in the instruction 'add.f99'");
  expect_error(R"(.func f()
{
  foo;
}
.visible .entry k() { call f; })",
               Kind::unknown, "line 6, column 3: unknown instruction 'foo' in function 'f'");
}

TEST_F(ImageTest, RefusesOperandsThatDoNotFit) {
  expect_error(R"(.visible .entry k()
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  add.u32 %r1, %rd1, %r1;
})",
               Kind::syntax,
               "line 8, column 16: operand 2 of 'add.u32', a register of type .b64, does not fit");
  expect_error(".visible .entry k() { .reg .b32 %r<2>; add.u32 %r1, %r1; }", Kind::syntax,
               "the operands of 'add.u32' do not fit");
  expect_error(".visible .entry k() { .reg .b32 %r<2>; .reg .b16 %h<2>; ld.global.u32 %h1, [0]; }",
               Kind::syntax, "operand 1 of 'ld.global.u32'");
  expect_error(".visible .entry k() { .reg .f32 %f<2>; add.f32 %f1, %f1, 1; }", Kind::syntax,
               "operand 3 of 'add.f32'");
  expect_error(".visible .entry k() { .reg .b128 %q<2>; ld.global.u32 %q1, [0]; }", Kind::syntax,
               "operand 1 of 'ld.global.u32', a register of type .b128, does not fit");
  expect_error(".visible .entry k() { .reg .b128 %q<2>; st.global.u64 [0], %q1; }", Kind::syntax,
               "operand 2 of 'st.global.u64', a register of type .b128, does not fit");
}

TEST_F(ImageTest, TakesSizesAndMasksOfInstructionsOnFloats) {
  load(R"(.visible .entry k()
{
  .reg .f32 %f<9>; .reg .f64 %d<3>; .reg .b64 %rd<3>; .reg .b32 %r<2>;
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32
      {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1], 16;
  wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%rd1], {%d1, %d2}, 8;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], 16;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%rd1], [%r1], 16;
})");
}

TEST_F(ImageTest, RefusesAddressesOf32BitsWhereTheyHave64) {
  for (const std::string instruction :
       {"ld.const.u32 %r1, [%r2]", "ld.global.u32 %r1, [%r2]", "ld.u32 %r1, [%r2]",
        "ld.param.u32 %r1, [%r2]", "atom.global.add.u32 %r1, [%r2], %r1",
        "ld.acquire.gpu.global.u32 %r1, [%r2]"}) {
    expect_error(".visible .entry k() { .reg .b32 %r<4>; " + instruction + "; }", Kind::syntax,
                 "operand 2 of '" + instruction.substr(0, instruction.find(' ')) +
                     "', an address of 32 bits, does not fit");
  }
  for (const std::string instruction :
       {"st.global.u32 [%r2], %r1", "mbarrier.init.b64 [%r2], 1", "prefetch.global.L2 [%r2]"}) {
    expect_error(".visible .entry k() { .reg .b32 %r<4>; " + instruction + "; }", Kind::syntax,
                 "an address of 32 bits, does not fit");
  }
  expect_error(
      ".visible .entry k() { .reg .b32 %r<4>; cp.async.ca.shared.global [%r2], [%r1], 16; }",
      Kind::syntax, "the operands of 'cp.async.ca.shared.global' do not fit");
  load(R"(.visible .entry k()
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.shared.u32 %r1, [%r2];
  ld.shared.u32 %r1, [%rd2];
  ld.shared::cluster.u32 %r1, [%r2];
  st.local.u32 [%r2], %r1;
  atom.shared.add.u32 %r1, [%r2], 1;
  mbarrier.init.shared.b64 [%r2], 1;
  cp.async.ca.shared.global [%r2], [%rd1], 16;
})");
}

TEST_F(ImageTest, RefusesTextThatIsNotPtx) {
  expect_error(".visible .entry k() {", Kind::syntax, "line ");
}

TEST_F(ImageTest, RefusesNewerVersionsAndTargets) {
  const std::string_view body = ".visible .entry k() { ret; }";
  expect_error_of_all({module_of(body, "sm_100")}, Kind::unsupported_target, "sm_100");
  expect_error_of_all({module_of(body, "sm_90", "9.6")}, Kind::unsupported_version, "9.6");
  EXPECT_NE(load_all({module_of(body, "sm_90a")}), nullptr);
  EXPECT_NE(load_all({module_of(body, "sm_75")}), nullptr);
  target.major = 10;
  expect_error_of_all({module_of(body, "sm_90a")}, Kind::unsupported_target, "sm_90a");
  EXPECT_NE(load_all({module_of(body, "sm_100f", "8.8")}), nullptr);
}

}  // namespace
}  // namespace cudacore::simulator::testing
