// SPDX-License-Identifier: Apache-2.0
#include "signature/ptx_directives.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace cudacore::signature {
namespace {

constexpr std::string_view ptx = R"(.version 8.0
.target sm_90
.extern .func (.param .b32 r) far(.param .b32 a);
.extern .shared .align 16 .b8 scratch[];
.func near(.param .b32 .global a);
.func near(.param .b32 a) { .reg .b32 %r<2>; { ret; } }
.weak .entry k(.param .u64 k_param_0) .maxntid 32, 1, 1 { ret; }
/* .global .u32 comment; */ .visible .global .attribute(.managed) .b8 table[2] = {1, 2};
.section .debug_str { .b8 0 }
.const .f32 limit;
)";

TEST(PtxDirectives, SayWhatTheyDeclare) {
  std::string text;
  for (const PtxDirective& one : directives_in_ptx(ptx)) {
    text.append(one.linkage).append(one.space).append(" ").append(one.symbol);
    text += one.is_definition() ? " defined\n" : "\n";
  }
  EXPECT_EQ(text,
            ".extern.func far\n.extern.shared scratch\n.func near\n.func near defined\n"
            ".weak.entry k defined\n.visible.global table defined\n.const limit defined\n");
}

TEST(PtxDirectives, BeginWhereTheirTextDoes) {
  const auto directives = directives_in_ptx(ptx);
  ASSERT_EQ(directives.size(), 7U);
  EXPECT_EQ(directives[5].head, ".visible .global .attribute(.managed) .b8 ");
  EXPECT_EQ(directives[6].head.data() - ptx.data(), ptx.find(".const"));
}

TEST(PtxDirectives, AreLeftOutIfTheTextEndsInThem) {
  for (std::size_t size = 0; size < ptx.size(); ++size) {
    EXPECT_LE(directives_in_ptx(ptx.substr(0, size)).size(), 7U);
  }
  EXPECT_TRUE(directives_in_ptx(".global .u32 x").empty());
  EXPECT_EQ(directives_in_ptx(".global .u32 x;").size(), 1U);
}

}  // namespace
}  // namespace cudacore::signature
