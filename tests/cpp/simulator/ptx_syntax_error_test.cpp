// SPDX-License-Identifier: Apache-2.0
//
// Invalid PTX is rejected at the right position, and no text does harm.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {
namespace {

constexpr std::string_view header = ".version 8.3\n.target sm_90\n.address_size 64\n";

constexpr std::string_view sample =
    "// A bit of everything.\n"
    ".version 8.3\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a.cu\"\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".func (.param .b32 r) twice(.param .b32 x);\n"
    ".global .align 8 .u64 table[4] = {0, vprintf, generic(twice)+4, -1};\n"
    ".global .u8 bytes[2] = {0xff(table), 0xff00(table+4)};\n"
    ".const .align 4 .f32 reals[2][2] = {{0f3F800000, 1.5}, {-2e3}};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[16])\n"
    ".maxntid 128, 1, 1\n.minnctapersm 2\n.pragma \"nounroll\";\n{\n"
    "  .reg .pred %p<3>;\n  .reg .b32 %r<9>; /* registers */\n  .reg .b64 %rd<4>, %SP;\n"
    "  .reg .v4 .f32 v;\n  .local .align 8 .b8 depot[32];\n  .loc 1 3 5, function_name $L_s, "
    "inlined_at 1 2 3\n"
    "  ld.param.u64 %rd1, [p+0];\n  mov.u32 %r1, %tid.x;\n  mov.b64 %rd2, depot+8;\n"
    "  setp.lt.and.s32 %p1|%p2, %r1, (1 << 3) - 2 * 4 % 3, !%p2;\n"
    "loop:\n  @!%p1 bra done;\n  ld.global.nc.L2::128B.v2.u32 {%r2, _}, [%rd1+-8];\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), twice, (a);\n"
    "    proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "    call (b), %rd2, (a), proto; ld.param.b32 %r3, [b]; }\n"
    "  ts: .branchtargets loop, done;\n  brx.idx %r1, ts;\n  mov.f32 v.x, 0d3FF0000000000000;\n"
    "  st.global.v4.f32 [%rd1], v;\n  tex.1d.v4.f32.s32 {%r1,%r2,%r3,%r4}, [table, {%r1}];\n"
    "done:\n  ret;\n}\n.section .debug_str { $L_s: .b8 1 { } }\n";

/// The error of a text after the header; lines are counted from after the header, too.
std::string error_of(std::string_view rest) {
  try {
    static_cast<void>(parse(std::string(header) + std::string(rest)));
  } catch (const SyntaxError& error) {
    const std::string message = error.what();
    return std::to_string(error.position().line - 3) + ":" +
           std::to_string(error.position().column) + message.substr(message.find(": "));
  }
  return "none";
}

/// The same for the body of an entry, which begins at line 2.
std::string error_in(std::string_view body) {
  return error_of(
      ".entry k(.param .u64 p) { .reg .b32 %r<5>; .reg .pred %p<2>; .reg .v2 .f32 v;\n" +
      std::string(body) + "\n}");
}

struct Rejection {
  std::string_view text;
  std::string_view error;
};
void expect_errors(std::string (*error)(std::string_view),
                   std::initializer_list<Rejection> rejections) {
  for (const auto& [text, expected] : rejections) EXPECT_EQ(error(text), expected) << text;
}

/// A text may be PTX or not; if it is not, it must be rejected, and nothing else may happen.
void try_to_parse(std::string_view text) {
  try {
    static_cast<void>(parse(text));
  } catch (const SyntaxError& error) {
    EXPECT_GE(error.position().line, 1U);
    EXPECT_GE(error.position().column, 1U);
  }
}

TEST(PtxSyntaxError, SaysWhereAndWhat) {
  const SyntaxError error({12, 5}, "expected ';'");
  EXPECT_STREQ(error.what(), "line 12, column 5: expected ';'");
}

TEST(PtxSyntaxError, Heads) {
  const auto error = [](std::string_view text) {
    try {
      static_cast<void>(parse(text));
    } catch (const SyntaxError& caught) {
      return std::string(caught.what());
    }
    return std::string("none");
  };
  expect_errors(error,
                {{"", "line 1, column 1: expected '.version', found the end of the text"},
                 {".target sm_90", "line 1, column 1: expected '.version', found '.target'"},
                 {".version 8", "line 1, column 10: expected a version such as 8.0, found '8'"},
                 {".version 8.0\n.address_size 64",
                  "line 2, column 1: expected '.target', found '.address_size'"},
                 {".version 8.0 .target sm_90 .address_size 48",
                  "line 1, column 42: an address size is 32 or 64"},
                 {"\x7f"
                  "ELF",
                  "line 1, column 1: expected '.version', found '?'"},
                 {".version 8.0 .target sm_90 .entry k() {\n.version 8.0 .target sm_90",
                  "line 2, column 1: expected '}' for the '{' of line 1, found '.version'"}});
}

TEST(PtxSyntaxError, Declarations) {
  expect_errors(
      error_of,
      {{".globl .u32 x;", "1:1: unknown directive '.globl'"},
       {"foo", "1:1: expected a directive, found 'foo'"},
       {".global .u32 x", "1:15: expected ';', found the end of the text"},
       {".global x;", "1:9: expected a type, found 'x'"},
       {".global .u32 .u32 x;", "1:14: a second type, '.u32'"},
       {".global .align 3 .u32 x;", "1:16: an alignment must be a power of two"},
       {".global .foo .u32 x;", "1:9: unknown directive '.foo' in a declaration"},
       {".global .texref .u32 t;", "1:17: a second type, '.u32'"},
       {".global .samplerref s = {", "1:25: this '{' is never closed"},
       {".global .pred x;", "1:9: a predicate can only be a register"},
       {".global .u32 x;\n.global .u32 x;", "2:14: 'x' is declared already"},
       {".global .u32 x[];",
        "1:14: 'x' has no size: only an .extern array or one with initial values may"},
       {".global .b8 x[-1];", "1:15: an array's size must not be negative"},
       {".global .b8 x[1099511627777];", "1:15: this array is larger than 2^40 bytes"},
       {".global .b64 x[1048576][1048576];", "1:14: 'x' is larger than 2^40 bytes"},
       {".param .u32 x;", "1:1: '.param' does not belong here"},
       {".visible .file 1 \"x\"", "1:10: expected a variable or a function, found '.file'"},
       {".alias a, b;", "1:8: 'a' is not declared"},
       {".section .debug {\n{ }", "1:17: this '{' is never closed"},
       {"/* x", "1:1: this comment has no end"},
       {".file 1 \"abc\n", "1:9: this string has no end"},
       {".file 4000000000 \"abc\"\n", "1:7: a file's number is too large"}});
}

TEST(PtxSyntaxError, InitialValues) {
  expect_errors(
      error_of,
      {{".global .u32 x[2] = {1, 2, 3};", "1:28: 'x' has room for no more than 2 values here"},
       {".global .u32 x[2][2] = {1, 2};", "1:25: expected '{', found '1'"},
       {".global .f32 x = 1;", "1:18: an integer cannot be a value of type .f32"},
       {".global .u32 x = 1.5;", "1:18: a floating-point number cannot be a value of type .u32"},
       {".global .f16 x = 1.5;", "1:18: a constant cannot be a value of type .f16"},
       {".global .u16 x = x;", "1:18: an address cannot be a value of type .u16"},
       {".global .u64 x = missing;", "1:18: 'missing' is not declared"},
       {".global .u8 x = 0xff0(x);", "1:17: a mask must choose one byte, as 0xff00 does"},
       {".shared .u32 x = 1;", "1:16: only .global and .const variables take an initial value"},
       {".extern .global .u32 x = 1;", "1:24: an .extern variable takes no initial value"},
       {".global .b8 x[1099511627776] = {1};", "1:13: too many bytes of initial values"}});
}

TEST(PtxSyntaxError, Functions) {
  expect_errors(
      error_of,
      {{".entry k() .maxtid 3 { }", "1:12: unknown directive '.maxtid' of 'k'"},
       {".entry k() ret;", "1:12: expected '{' or ';', found 'ret'"},
       {".entry k() { ret; }\n.entry k() { ret; }", "2:8: 'k' is declared already"},
       {".entry k(.param .u32 a, .param .u32 a) { ret; }", "1:37: 'a' is declared already"},
       {".entry k(.u32 a) { ret; }", "1:10: expected '.param' or '.reg', found '.u32'"},
       {".entry k() {\nret;\n",
        "3:1: expected '}' for the '{' of line 4, found the end of the text"},
       {".extern .func f() { ret; }", "1:19: the .extern function 'f' cannot have a body"},
       {".entry k() .maxntid 1,2,3,4 { ret; }", "1:27: there are only three dimensions"}});
}

TEST(PtxSyntaxError, Instructions) {
  expect_errors(
      error_in,
      {{"mov.u32 %r1, %r2\nret;", "3:1: expected ',' or ';', found 'ret'"},
       {"ret", "3:1: expected an operand, found '}'"},
       {"mov.u32 %r1, %r5;", "2:14: register '%r5' is not declared"},
       {"mov.u32 %r1, foo;", "2:14: 'foo' is not declared"},
       {"bra nowhere;", "2:5: there is no label 'nowhere'"},
       {"t: .branchtargets nowhere;", "2:19: there is no label 'nowhere'"},
       {"{ inner: } bra inner;", "2:16: there is no label 'inner'"},
       {"a: ret;\na: ret;", "3:1: 'a' is declared already"},
       {"a: mov.u64 %r1, a;", "2:17: the label 'a' is not an operand here"},
       {".reg .b32 %r3;", "2:11: '%r3' is declared already"},
       {".reg .b32 x7;\n.reg .b32 x<9>;", "3:11: 'x' or one of its registers is declared already"},
       {".reg .b32 x1, a, b, c;\n.reg .b32 x<2>;",
        "3:11: 'x' or one of its registers is declared already"},
       {".reg .b32 x7, x01, y1, x;\n.reg .b32 x<7>; ret;", "none"},
       {".reg .b32 x<4000000000>;", "2:11: too many registers"},
       {"@%r1 ret;", "2:2: '%r1' is not a predicate"},
       {"@%q ret;", "2:2: register '%q' is not declared"},
       {"@%p1;", "2:5: expected an instruction, found ';'"},
       {";", "2:1: expected an instruction, found ';'"},
       {"%r1 = 3;", "2:1: expected an instruction, found '%r1'"},
       {"mov.u32 %r1, ;", "2:14: expected an operand, found ';'"},
       {"mov.u32 %r1, %tid.q;", "2:14: '%tid.q': there is no such component"},
       {"mov.f32 %r1, v.z;", "2:14: 'v.z': there is no such component"},
       {"mov.f32 %r1.x, v.x;", "2:9: '%r1.x': this register has no components"},
       {"ld.u32 %r1, [%r2;", "2:17: expected ']', found ';'"},
       {"ld.u32 %r1, [%r2+%r3];", "2:18: expected a constant, found '%r3'"},
       {"ld.u32 %r1, [%r2[1]];", "2:17: expected ']', found '['"},
       {"mov.b64 {%r1, v}, %r2;", "2:15: a vector within a vector"},
       {"mov.b64 {%r1, {%r2}}, %r2;", "2:15: expected a vector's element, found '{'"},
       {".foo 1;", "2:1: unknown directive '.foo'"},
       {".version_ 1;", "2:1: unknown directive '.version_'"},
       {".entry k2() {}", "2:1: '.entry' does not belong here"},
       {"ret;\tret;\t\x01", "2:11: expected an instruction, found '?'"}});
}

TEST(PtxSyntaxError, Numbers) {
  expect_errors(
      error_in,
      {{"mov.u64 %r1, 18446744073709551616;",
        "2:14: '18446744073709551616' does not fit in 64 bits"},
       {"mov.u32 %r1, 12ab;", "2:14: '12ab' is not a number"},
       {"mov.u32 %r1, 0x;", "2:14: '0x' is not a number"},
       {"mov.u32 %r1, 089;", "2:14: '089' is not a number"},
       {"mov.u32 %r1, 0f123;", "2:14: '0f123' is not a number: 0f takes 8 hexadecimal digits"},
       {"mov.u32 %r1, 1e999;", "2:14: '1e999' is beyond the range of a double"},
       {"mov.u32 %r1, 1/0;", "2:15: division by zero"},
       {"mov.u32 %r1, ~1.5;", "2:14: '~' takes an integer"},
       {"mov.u32 %r1, 1.5 & 1;", "2:18: this operator takes integers"},
       {"mov.u32 %r1, (.u32) 1;", "2:15: expected '.s64', '.u64' or '.f64', found '.u32'"},
       {"mov.u32 %r1, (.u64) -1.0;", "2:15: this cast overflows"},
       {"mov.u32 %r1, (1;", "2:16: expected ')', found ';'"}});
}

TEST(PtxSyntaxError, DeepTextsHaveLimits) {
  constexpr std::size_t deep = 1'000'000;
  EXPECT_EQ(error_in(std::string(deep, '{')), "2:256: blocks are nested too deep");
  for (const char c : {'(', '-', '~', '!'}) {
    const std::string error = error_in("mov.u32 %r1, " + std::string(deep, c));
    EXPECT_TRUE(error.ends_with("this expression is nested too deep")) << error;
  }
  std::string ternaries = "mov.u32 %r1, 1";
  for (int i = 0; i < 100'000; ++i) ternaries += "?1:1";
  EXPECT_TRUE(error_in(ternaries).ends_with("this expression is nested too deep"));
  EXPECT_EQ(error_of(".global .u32 x = {" + std::string(deep, '{')),
            "1:18: expected a constant, found '{'");
  std::string extents = ".global .u8 x";
  for (int i = 0; i < 100'000; ++i) extents += "[1]";
  EXPECT_EQ(error_of(extents + ";"), "1:110: an array has at most 32 dimensions");
  EXPECT_TRUE(error_of(".section .debug " + std::string(deep, '{')).ends_with("never closed"));
}

TEST(PtxSyntaxError, EveryPrefixIsRefusedOrParsed) {
  EXPECT_EQ(parse(sample).size(), 1U);
  for (std::size_t size = 0; size < sample.size(); ++size) try_to_parse(sample.substr(0, size));
}

TEST(PtxSyntaxError, EveryMissingByteIsRefusedOrParsed) {
  for (std::size_t at = 0; at < sample.size(); ++at) {
    std::string text(sample);
    text.erase(at, 1);
    try_to_parse(text);
  }
}

TEST(PtxSyntaxError, ChangedTextsAreRefusedOrParsed) {
  constexpr std::string_view telling = "{}()[]<>;,.:@!%|_\"/*+-?0123xfdU \n\t#\x80";
  std::mt19937 random(20240607);  // NOLINT: the same texts each time
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 20'000; ++round) {
    std::string text(sample);
    for (std::size_t changes = 1 + below(4); changes != 0; --changes) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = telling[below(telling.size())];
          break;
        case 1:
          text.insert(at, 1, telling[below(telling.size())]);
          break;
        case 2:
          text.erase(at, 1 + below(20));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), 1 + below(40)));
      }
    }
    try_to_parse(text);
  }
}

TEST(PtxSyntaxError, RandomBytesAreRefused) {
  std::mt19937 random(7);  // NOLINT: the same texts each time
  for (int round = 0; round < 2'000; ++round) {
    std::string text(round % 2 == 0 ? header : std::string_view());
    for (int i = 0; i < 200; ++i) text += static_cast<char>(random());
    try_to_parse(text);
  }
}

TEST(PtxSyntaxError, ClustersToCountNeedTheirSize) {
  for (const std::string_view head :
       {".entry k()\n.reqntid 32 .blocksareclusters",
        ".entry k()\n.reqnctapercluster 2 .blocksareclusters",
        ".func k\n.reqntid 32 .blocksareclusters .reqnctapercluster 2"}) {
    const std::string text = std::string(head) + " { ret; }";
    EXPECT_EQ(error_of(text), "2:" + std::to_string(head.find(".blocks") - head.find('\n')) +
                                  ": .blocksareclusters of 'k' needs a kernel with .reqntid and "
                                  ".reqnctapercluster");
  }
}

}  // namespace
}  // namespace cudacore::simulator::ptx
