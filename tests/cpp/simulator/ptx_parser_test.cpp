// SPDX-License-Identifier: Apache-2.0
//
// Parsing PTX text into modules: functions, scopes, labels and calls.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx_parser_test_support.hpp"

namespace cudacore::simulator::ptx::testing {
namespace {

/// The index of an operand: of a register, for example.
std::uint32_t index_at(const Function& function, std::size_t instruction, std::size_t operand) {
  return function.instructions.at(instruction).operands[operand].index;
}

TEST(PtxParser, ReadsTheHead) {
  const auto module = parse(
      "//\n// Generated\n//\n.version 9.5\n.target sm_90a, texmode_independent, debug\n"
      ".address_size 64\n.file 1 \"a.cu\"\n.file\t2 \"b\\\\c.cu\", 1700000000, 123\n");
  ASSERT_EQ(module.size(), 1U);
  EXPECT_EQ(module[0]->version, 95U);
  EXPECT_EQ(module[0]->target, "sm_90a");
  EXPECT_EQ(module[0]->address_size, 64U);
  ASSERT_EQ(module[0]->files.size(), 3U);
  EXPECT_EQ(module[0]->files[1], "a.cu");
}

TEST(PtxParser, TakesBlanksCommentsAndCarriageReturnsAnywhere) {
  const auto module = parse_module(
      ".visible /* an */ .entry\r\nk ( ) // here\r\n{ .reg .b32 a /*,*/ ; mov.b32 a , 1 ; ret; "
      "}\r\n");
  EXPECT_EQ(entry_of(*module).instructions.size(), 2U);
}

TEST(PtxParser, ANulEndsTheText) {
  const std::string text = with_header(".global .u32 x;") + '\0' + "garbage";
  EXPECT_EQ(parse(text)[0]->variables.size(), 1U);
}

TEST(PtxParser, AnotherVersionBeginsAnotherModule) {
  const std::string first = with_header("// .version 1\n.file 1 \".version 2\"\n.global .u32 x;\n");
  const auto modules = parse(first + "  " + with_header(".global .u32 x;\n.global .u32 y;\n"));
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules[0]->variables.size(), 1U);
  ASSERT_EQ(modules[1]->variables.size(), 2U);
  EXPECT_EQ(modules[1]->variables[1].position.line, 11U);
}

TEST(PtxParser, SkipsDebugData) {
  const auto module = parse_module(
      "\t.section\t.debug_abbrev\n\t{\n.b8 1 // } not the end\n.b8 17\n$L__info:\n.b32 $L__x+4\n"
      "{ nested } /* } */ .b8 \"}\"\n\t}\n\t.section .debug_loc { }\n@@DWARF .byte 0x13\n"
      ".global .u32 x;\n");
  EXPECT_EQ(module->variables.size(), 1U);
}

TEST(PtxParser, ReadsBothDialectsOfParameters) {
  const auto module = parse_module(
      ".visible .entry a(.param .u64 a_0, .param .align 8 .b8 a_1[24], .param .f32 a_2) { ret; }\n"
      ".entry b(.param .u64 .ptr .global .align 16 b_0, .param .u64 .ptr .align 1 b_1,\n"
      ".param .align 4 .b8 b_2[8]) { ret; }\n");
  const Function& a = module->functions[0];
  EXPECT_TRUE(a.is_entry);
  EXPECT_EQ(a.linkage, Linkage::visible);
  ASSERT_EQ(a.parameters.size(), 3U);
  EXPECT_EQ(a.parameters[1].size, 24U);
  EXPECT_EQ(a.parameters[1].align, 8U);
  EXPECT_TRUE(a.parameters[1].is_array);
  EXPECT_EQ(a.parameters[2].type, Type::f32);
  EXPECT_EQ(a.parameters[2].align, 4U);
  EXPECT_EQ(a.variables.size(), 3U);
  const Function& b = module->functions[1];
  EXPECT_EQ(b.linkage, Linkage::internal);
  EXPECT_TRUE(b.parameters[0].is_pointer);
  EXPECT_EQ(b.parameters[0].align, 16U);
  EXPECT_TRUE(b.parameters[1].is_pointer);
  EXPECT_EQ(b.parameters[2].size, 8U);
}

TEST(PtxParser, ReadsLaunchBounds) {
  const auto module = parse_module(
      ".visible .entry k()\n.maxntid 128, 2\n.reqntid 64\n.minnctapersm 3\n.maxnctapersm 4\n"
      ".maxnreg 40\n.reqnctapercluster 2, 1, 1\n.explicitcluster\n.maxclusterrank 8\n.noreturn\n"
      ".blocksareclusters\n.pragma \"nounroll\", \"whatever\";\n{ ret; }\n");
  const Directives& found = entry_of(*module).directives;
  EXPECT_EQ(found.max_threads[0], 128U);
  EXPECT_EQ(found.max_threads[1], 2U);
  EXPECT_EQ(found.max_threads[2], 1U);
  EXPECT_EQ(found.required_threads[0], 64U);
  EXPECT_EQ(found.required_cluster[0], 2U);
  EXPECT_EQ(found.min_blocks, 3U);
  EXPECT_EQ(found.max_registers, 40U);
  EXPECT_EQ(found.max_cluster_rank, 8U);
  EXPECT_TRUE(found.explicit_cluster);
  EXPECT_TRUE(found.blocks_are_clusters);
  EXPECT_TRUE(found.no_return);
}

TEST(PtxParser, ReadsDeclarationsDefinitionsAndAliases) {
  const auto module = parse_module(
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".func .attribute(.unified(1, 2)) plain;\n"
      ".func (.param .b32 r) f(.param .b32 a);\n.func g(.param .b32 a);\n"
      ".visible .func (.param .b32 r) f(.param .b32 a) .noreturn { ret; }\n.alias g, f;\n"
      ".weak .func (.reg .u32 out) h(.reg .u32 in) { mov.u32 out, in; ret; }\n");
  ASSERT_EQ(module->functions.size(), 6U);
  EXPECT_EQ(module->functions[0].linkage, Linkage::external);
  EXPECT_FALSE(module->functions[2].has_body);
  EXPECT_TRUE(module->functions[4].has_body);
  ASSERT_EQ(module->aliases.size(), 1U);
  EXPECT_EQ(module->aliases[0].target, "f");
  const Function& h = module->functions[5];
  EXPECT_TRUE(h.parameters[0].in_register);
  EXPECT_EQ(h.parameters[0].index, 0U);
  EXPECT_EQ(h.results[0].index, 1U);
  EXPECT_EQ(index_at(h, 0, 0), 1U);
  EXPECT_EQ(index_at(h, 0, 1), 0U);
}

TEST(PtxParser, GivesRegistersConsecutiveIndexes) {
  const auto module = parse_body(
      ".reg .f32 a, f<3>, b; .reg .v4 .f32 v;\nmov.b32 %r17, f2;\nmov.f32 v.w, b;\nmov.b32 v.g, "
      "a;\n"
      "st.global.v4.f32 [%rd9], v;");
  const Function& kernel = entry_of(*module);
  ASSERT_EQ(kernel.registers.size(), 4U + 20U + 10U + 5U + 4U);
  EXPECT_EQ(index_at(kernel, 0, 0), 4U + 17U);
  EXPECT_EQ(kernel.registers[4 + 17].name, "%r17");
  EXPECT_EQ(kernel.registers[4 + 17].type, Type::b32);
  EXPECT_EQ(index_at(kernel, 0, 1), 37U);
  EXPECT_EQ(index_at(kernel, 1, 0), 42U);
  EXPECT_EQ(index_at(kernel, 2, 0), 40U);
  const Operand& whole = kernel.instructions[3].operands[1];
  ASSERT_EQ(whole.kind, Kind::vector);
  ASSERT_EQ(whole.elements.size(), 4U);
  EXPECT_EQ(whole.elements[3].index, 42U);
}

TEST(PtxParser, InnerScopesHideOuterNames) {
  const auto module = parse_body(
      "mov.b32 %r3, 0;\n{ .reg .b32 %r3; .reg .b32 t; mov.b32 %r3, %r4; mov.b32 t, %r3; }\n"
      "{ .reg .b64 %r<5>; .reg .b64 t; mov.b64 %r3, t; mov.b32 %r7, 0; mov.b64 %r3, 0; }\n"
      "mov.b32 %r3, %r7;");
  const Function& kernel = entry_of(*module);
  const auto reg = [&](std::size_t instruction, std::size_t operand) {
    return index_at(kernel, instruction, operand);
  };
  EXPECT_EQ(reg(0, 0), 7U);
  EXPECT_EQ(reg(1, 0), 34U);
  EXPECT_EQ(reg(1, 1), 8U);
  EXPECT_EQ(reg(2, 1), 34U);
  EXPECT_EQ(reg(3, 0), 36U + 3U);
  EXPECT_EQ(kernel.registers[reg(3, 1)].type, Type::b64);
  EXPECT_EQ(reg(4, 0), 4U + 7U);
  EXPECT_EQ(reg(5, 0), 36U + 3U);
  EXPECT_EQ(reg(6, 0), 7U);
  EXPECT_EQ(reg(6, 1), 4U + 7U);
}

TEST(PtxParser, EachCallSequenceHasItsOwnParameters) {
  const auto module = parse_body(
      "{ .param .b32 param0; .param .align 8 .b8 retval0[16]; st.param.b32 [param0+0], %r1; }\n"
      "{ .param .b64 param0; st.param.b64 [param0], %rd1; }");
  const Function& kernel = entry_of(*module);
  ASSERT_EQ(kernel.variables.size(), 5U);
  EXPECT_EQ(kernel.variables[3].size, 16U);
  EXPECT_EQ(kernel.instructions[0].operands[0].index, 2U);
  EXPECT_EQ(kernel.instructions[1].operands[0].index, 4U);
  EXPECT_EQ(kernel.variables[4].type, Type::b64);
}

TEST(PtxParser, LabelsBelongToTheirBlocks) {
  const auto module = parse_body(
      "again: add.s32 %r1, %r1, 1;\n{ @%p1 bra done; bra again; done: }\n"
      "{ again: @!%p2 bra again; bra done; done: }\ndone:\nend: ret;");
  const auto& instructions = entry_of(*module).instructions;
  const auto target = [&](std::size_t at) { return instructions[at].operands[0].index; };
  EXPECT_EQ(target(1), 3U);
  EXPECT_EQ(instructions[1].guard, 1U);
  EXPECT_FALSE(instructions[1].guard_negated);
  EXPECT_EQ(target(2), 0U);
  EXPECT_EQ(target(3), 3U);
  EXPECT_TRUE(instructions[3].guard_negated);
  EXPECT_EQ(target(4), 5U);
}

TEST(PtxParser, ReadsTablesOfBranchesAndCalls) {
  const auto module = parse_body(
      "targets: .branchtargets one, two, one;\nbrx.idx %r1, targets;\none: ret;\ntwo: ret;\n"
      "callees: .calltargets helper;\ncall (%r1), %rd1, (%r2, %rd2), callees;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) "
      ".noreturn;\n"
      "call (%r1), %rd1, (%rd2, %rd3), proto;");
  const Function& kernel = entry_of(*module);
  ASSERT_EQ(kernel.tables.size(), 2U);
  EXPECT_EQ(kernel.tables[0].instructions, (std::vector<std::uint32_t>{1, 2, 1}));
  EXPECT_EQ(kernel.tables[1].functions, (std::vector<std::string_view>{"helper"}));
  const Operand& label = kernel.instructions[0].operands[1];
  EXPECT_EQ(label.kind, Kind::label);
  EXPECT_TRUE(label.table);
  EXPECT_EQ(label.index, 0U);
  EXPECT_TRUE(kernel.instructions[3].operands[3].table);
  const Operand& prototype = kernel.instructions[4].operands[3];
  EXPECT_TRUE(prototype.prototype);
  ASSERT_EQ(kernel.prototypes.size(), 1U);
  EXPECT_EQ(kernel.prototypes[0].results.size(), 1U);
  ASSERT_EQ(kernel.prototypes[0].parameters.size(), 2U);
  EXPECT_EQ(kernel.prototypes[0].parameters[1].size, 16U);
}

TEST(PtxParser, ReadsCalls) {
  const auto module = parse_body(
      "{ .param .b32 p; .param .b32 r; call.uni (r), helper, (p, 5); }\ncall helper, ();\n"
      "call helper;\n");
  const auto& instructions = entry_of(*module).instructions;
  ASSERT_EQ(instructions[0].operands.size(), 3U);
  const Operand& results = instructions[0].operands[0];
  ASSERT_EQ(results.kind, Kind::list);
  EXPECT_TRUE(results.elements[0].variable_known);
  EXPECT_EQ(results.elements[0].index, 3U);
  EXPECT_EQ(instructions[0].operands[1].kind, Kind::symbol);
  EXPECT_EQ(instructions[0].operands[1].name, "helper");
  EXPECT_EQ(instructions[0].operands[2].elements[1].bits, 5U);
  EXPECT_TRUE(instructions[1].operands[1].elements.empty());
  EXPECT_EQ(instructions[2].operands.size(), 1U);
}

TEST(PtxParser, ReadsSourceLocations) {
  const auto module = parse_body(
      "mov.b32 %r1, 0;\n.loc 1 12 5\nmov.b32 %r1, 1;\n"
      ".loc\t2 3 4, function_name $L__info_string0, inlined_at 1 12 5\nmov.b32 %r1, 2;\n"
      ".loc 3 9 1, function_name $L__info_string1, inlined_at 2 3 4\nmov.b32 %r1, 3;\n"
      ".loc 1 7 1, function_name $L__info_string0+16, inlined_at 1 1 1\nret;");
  const auto& instructions = entry_of(*module).instructions;
  EXPECT_EQ(instructions[0].location, 0U);
  EXPECT_EQ(module->locations.at(instructions[1].location).line, 12U);
  EXPECT_EQ(module->locations.at(instructions[2].location).file, 2U);
  EXPECT_EQ(module->locations.at(instructions[4].location).line, 7U);
  EXPECT_EQ(module->locations.at(instructions[1].location).call_line, 0U);
  // Inlined into what was inlined: the outermost call counts.
  for (const std::size_t inlined : {2U, 3U}) {
    EXPECT_EQ(module->locations.at(instructions[inlined].location).call_file, 1U);
    EXPECT_EQ(module->locations.at(instructions[inlined].location).call_line, 12U);
  }
  EXPECT_EQ(module->locations.at(instructions[4].location).call_line, 1U);
}

}  // namespace
}  // namespace cudacore::simulator::ptx::testing
