// SPDX-License-Identifier: Apache-2.0
//
// Parsing PTX text into modules.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {
namespace {

using Kind = Operand::Kind;

std::string with_header(std::string_view rest) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n" + std::string(rest);
}

std::unique_ptr<Module> parse_module(std::string_view rest) {
  auto modules = parse(with_header(rest));
  EXPECT_EQ(modules.size(), 1U);
  return std::move(modules.front());
}

/// A module with one entry that has a few registers and this body.
std::unique_ptr<Module> parse_body(std::string_view body) {
  return parse_module(
      ".global .align 4 .u32 table[4];\n.extern .shared .align 16 .b8 dynamic[];\n"
      ".func (.param .b32 result) helper(.param .b32 x, .param .b64 y);\n"
      ".visible .entry kernel(.param .u64 pointer, .param .u32 count)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<10>;\n" +
      std::string(body) + "\n}\n");
}

const Function& entry_of(const Module& module) { return module.functions.back(); }

const Instruction& first_of(const Module& module) { return entry_of(module).instructions.at(0); }

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

template <typename T>
T value_at(const Variable& variable, std::size_t index) {
  T value{};
  EXPECT_LE((index + 1) * sizeof(T), variable.initial.size());
  std::memcpy(&value, variable.initial.data() + index * sizeof(T), sizeof(T));
  return value;
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
  EXPECT_EQ(h.instructions[0].operands[0].index, 1U);
  EXPECT_EQ(h.instructions[0].operands[1].index, 0U);
}

TEST(PtxParser, GivesRegistersConsecutiveIndexes) {
  const auto module = parse_body(
      ".reg .f32 a, f<3>, b; .reg .v4 .f32 v;\nmov.b32 %r17, f2;\nmov.f32 v.w, b;\nmov.b32 v.g, "
      "a;\n"
      "st.global.v4.f32 [%rd9], v;");
  const Function& kernel = entry_of(*module);
  ASSERT_EQ(kernel.registers.size(), 4U + 20U + 10U + 5U + 4U);
  const auto& instructions = kernel.instructions;
  EXPECT_EQ(instructions[0].operands[0].index, 4U + 17U);
  EXPECT_EQ(kernel.registers[4 + 17].name, "%r17");
  EXPECT_EQ(kernel.registers[4 + 17].type, Type::b32);
  EXPECT_EQ(instructions[0].operands[1].index, 37U);
  EXPECT_EQ(instructions[1].operands[0].index, 42U);
  EXPECT_EQ(instructions[2].operands[0].index, 40U);
  const Operand& whole = instructions[3].operands[1];
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
    return kernel.instructions.at(instruction).operands[operand].index;
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

TEST(PtxParser, ReadsSourceLocations) {
  const auto module = parse_body(
      "mov.b32 %r1, 0;\n.loc 1 12 5\nmov.b32 %r1, 1;\n"
      ".loc\t2 3 4, function_name $L__info_string0, inlined_at 1 12 5\nmov.b32 %r1, 2;\n"
      ".loc 1 7 1, function_name $L__info_string0+16, inlined_at 1 1 1\nret;");
  const auto& instructions = entry_of(*module).instructions;
  EXPECT_EQ(instructions[0].location, 0U);
  EXPECT_EQ(module->locations.at(instructions[1].location).line, 12U);
  EXPECT_EQ(module->locations.at(instructions[2].location).file, 2U);
  EXPECT_EQ(module->locations.at(instructions[3].location).line, 7U);
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

TEST(PtxParser, TakesManyOperandsAndDeepBlocks) {
  std::string vector = "{%r1";
  for (int i = 0; i < 5000; ++i) vector += ", %r2";
  const Operands wide("mov.b64 " + vector + "}, %rd1;");
  EXPECT_EQ(wide[0].elements.size(), 5001U);
  EXPECT_EQ(wide[0].elements[5000].index, 6U);
  const std::string deep = std::string(200, '{') + "ret;" + std::string(200, '}');
  EXPECT_EQ(entry_of(*parse_body(deep)).instructions.size(), 1U);
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
}  // namespace cudacore::simulator::ptx
