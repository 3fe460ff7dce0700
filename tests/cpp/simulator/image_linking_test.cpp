// SPDX-License-Identifier: Apache-2.0
//
// Modules that become one image: their variables and definitions.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "simulator/image_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

TEST_F(ImageTest, PlacesVariablesWithTheirValues) {
  const auto image = load(R"(
.visible .global .align 4 .u32 counter = 42;
.visible .const .align 8 .u64 table[2] = {generic(counter), f};
.visible .global .attribute(.managed) .align 4 .u32 both;
.func f() { ret; }
.visible .entry k() { ret; })");
  const Global* counter = image->find_global("counter");
  const Global* table = image->find_global("table");
  const Global* both = image->find_global("both");
  ASSERT_TRUE(counter != nullptr && table != nullptr && both != nullptr);
  EXPECT_EQ(memory.read<std::uint32_t>(counter->address), 42u);
  EXPECT_EQ(memory.read<std::uint64_t>(table->address), counter->address);
  EXPECT_TRUE(both->managed);
  EXPECT_EQ(table->size, 16u);
  const Function* f = image->function_at(memory.read<std::uint64_t>(table->address, 8));
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->name, "f");
  EXPECT_EQ(image->function_at(0), nullptr);
  EXPECT_EQ(image->function_at(counter->address), nullptr);
  EXPECT_EQ(image->find_entry("k")->constant_bytes, 16u);
}

TEST_F(ImageTest, NeedsMemoryForVariables) {
  memory.left = 100;
  expect_error(".visible .global .align 4 .b8 big[1000];\n.visible .entry k() { ret; }",
               Kind::out_of_memory, "'big' of 1000 bytes");
}

TEST_F(ImageTest, LinksModules) {
  const auto image = load_all({module_of(R"(
.extern .func (.param .b32 r) twice(.param .b32 a);
.extern .global .align 4 .u32 shared_counter;
.visible .entry k()
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  mov.u64 %rd1, shared_counter;
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], 21;
    call.uni (q), twice, (p);
    ld.param.b32 %r1, [q]; }
})"),
                               module_of(R"(
.visible .global .align 4 .u32 shared_counter = 5;
.visible .func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [a];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
})")});
  const Function& k = *image->find_entry("k");
  const Instruction* call = nullptr;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    if (k.opcodes[i] == "call.uni") call = &k.code[i];
  }
  ASSERT_NE(call, nullptr);
  const auto& callee = *reinterpret_cast<const Function*>(call->imm);
  EXPECT_EQ(callee.name, "twice");
  const std::uint32_t* list = call->list + call->op[0];
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[2], 0u);  // the callee's, relative to the start of its parameters
  EXPECT_EQ(list[3], 16u);
  EXPECT_EQ(list[4], 1u);
  EXPECT_EQ(list[5], 0u);
  EXPECT_EQ(list[7], 16u);
  EXPECT_EQ(list[8], 4u);
  EXPECT_NE(list[1], list[6]);
  EXPECT_EQ(callee.parameter_bytes, 512u);
  EXPECT_EQ(callee.result_bytes, 16u);
}

TEST_F(ImageTest, PrefersStrongDefinitions) {
  const auto image = load_all(
      {module_of(".weak .global .align 4 .u32 x = 1;\n.common .global .align 4 .u32 y;\n"
                 ".weak .func f() { ret; }\n.visible .entry k() { ret; }"),
       module_of(".visible .global .align 4 .u32 x = 2;\n.common .global .align 4 .b8 y[64];\n"
                 ".weak .func f() { ret; }")});
  EXPECT_EQ(memory.read<std::uint32_t>(image->find_global("x")->address), 2u);
  EXPECT_EQ(image->find_global("y")->size, 64u);
}

TEST_F(ImageTest, RefusesWhatDoesNotLink) {
  const std::string twice = module_of(".visible .func f() { ret; }");
  expect_error_of_all({twice, twice}, Kind::link, "'f' is defined twice");
  expect_error(R"(.extern .func g();
.visible .entry k() {
  call g;
})",
               Kind::link, "line 6, column 8: 'g' is declared, but no module defines it");
}

}  // namespace
}  // namespace cudacore::simulator::testing
