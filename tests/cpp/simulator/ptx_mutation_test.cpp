// SPDX-License-Identifier: Apache-2.0
//
// Randomly damaged programs: each one still loads, or is rejected with line and column.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/engine/image.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::string_view program = R"(.version 8.3
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.const .align 4 .f32 table[4] = {0f3F800000, 2.0, 3.0, 0f40800000};
.visible .global .align 8 .u64 pointer = generic(counter);
.visible .global .align 4 .u32 counter = 7;
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [value];
  shl.b32 %r2, %r1, 1;
  st.param.b32 [result], %r2;
  ret;
}
.visible .entry k(.param .u64 to, .param .align 8 .b8 pair[16], .param .f32 by)
.maxntid 128, 1, 1
{
  .reg .pred %p<4>;
  .reg .b16 %h<3>;
  .reg .b32 %r<12>;
  .reg .f32 %f<9>;
  .reg .f64 %d<3>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[512];
  .local .align 8 .b8 frame[32];
  .loc 1 3 0
  ld.param.u64 %rd1, [to];
  ld.param.v2.u32 {%r1, %r2}, [pair+8];
  ld.param.f32 %f1, [by];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r3, 4, %r1;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd2, %rd3;
  setp.ge.and.u32 %p1|%p2, %r3, %r2, !%p3;
  @%p1 bra $done;
loop:
  ld.const.f32 %f2, [table+4];
  fma.rn.ftz.f32 %f3, %f1, %f2, 0fBF800000;
  cvt.rni.s32.f32 %r5, %f3;
  cvt.f64.f32 %d1, %f3;
  sqrt.rn.f64 %d2, %d1;
  cvt.rn.f16.f32 %h1, %f3;
  shfl.sync.bfly.b32 %r6|%p2, %r5, 1, 31, -1;
  vote.sync.ballot.b32 %r7, %p2, 0xffffffff;
  atom.global.add.u32 %r8, [counter], 1;
  st.shared.v4.f32 [tile+16], {%f1, %f2, %f3, %f1};
  bar.sync 0;
  ld.volatile.shared.u32 %r9, [tile];
  prmt.b32 %r10, %r9, %r8, 0x5410;
  { .param .b32 in; .param .b32 out;
    st.param.b32 [in], %r10;
    call.uni (out), twice, (in);
    ld.param.b32 %r11, [out]; }
  st.local.u32 [frame+4], %r11;
  red.global.max.s32 [%rd4+64], %r11;
  @!%p2 st.global.f32 [%rd4], %f3;
  setp.lt.s32 %p3, %r11, 100;
  @%p3 bra.uni loop;
$done:
  ts: .branchtargets loop, $done;
  brx.idx %r3, ts;
}
)";

constexpr std::array<std::string_view, 40> words{
    ".u8",   ".s16",  ".b32",   ".f16",    ".f64",       ".b128",
    ".pred", ".v2",   ".v4",    ".global", ".shared",    ".param",
    ".rn",   ".wide", ".sync",  "@%p1",    "%tid.x",     "ret;",
    "bra",   "call",  "{",      "}",       "(",          ")",
    "[",     "]",     ";",      ",",       ":",          "+",
    "0",     "-1",    "31",     "65536",   "4294967296", "99999999999999999999",
    "0f7F8", ".func", ".align", "\"",
};

/// Damages text in one to three places; the same seed always gives the same result.
class Mutation {
 public:
  explicit Mutation(unsigned seed) : random_(seed) {}

  std::string of(std::string text) {
    for (std::size_t i = pick(3) + 1; i > 0 && !text.empty(); --i) damage(text);
    return text;
  }

 private:
  struct Range {
    std::size_t begin;
    std::size_t size;
  };

  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string_view word() { return words.at(pick(words.size())); }

  Range line(const std::string& text) {
    const std::size_t at = pick(text.size());
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return {begin, std::min(text.find('\n', at), text.size() - 1) + 1 - begin};
  }
  Range token(const std::string& text) {
    constexpr std::string_view parts = "%._$abcdefghijklmnopqrstuvwxyzABCDEF0123456789";
    const std::size_t begin = std::min(text.find_first_of(parts, pick(text.size())), text.size());
    return {begin, std::min(text.find_first_not_of(parts, begin), text.size()) - begin};
  }
  void damage(std::string& text) {
    const Range from = line(text);
    const Range there = token(text);
    const Range other = token(text);
    switch (pick(7)) {
      case 0:
        text.erase(from.begin, from.size);
        break;
      case 1:
        text.insert(line(text).begin, text.substr(from.begin, from.size));
        break;
      case 2:
        text.replace(there.begin, there.size, word());
        break;
      case 3:
        text.replace(there.begin, there.size, text.substr(other.begin, other.size));
        break;
      case 4:
        text.insert(pick(text.size()), word());
        break;
      case 5:
        text[pick(text.size())] = static_cast<char>(' ' + pick('~' - ' '));
        break;
      default:
        text.resize(pick(text.size()));
    }
  }

  std::minstd_rand random_;
};

TEST(PtxMutation, LoadsOrIsRefusedWithItsPlace) {
  // Errors about the text as a whole have no position.
  const std::regex told(R"((line \d+, column \d+: .+)|(.*\.(target|version|address_size) .*))");
  std::size_t loaded = 0;
  std::size_t refused = 0;
  for (unsigned seed = 0; seed <= 4000; ++seed) {
    std::string text(program);
    if (seed != 0) text = Mutation(seed).of(std::move(text));
    std::vector<std::vector<std::byte>> memory;
    const auto give = [&](std::size_t size, std::size_t, bool, bool) -> std::optional<Allocation> {
      if (size > std::size_t{1} << 24U) return std::nullopt;
      Allocation piece;
      piece.host = memory.emplace_back(size).data();
      piece.address = 0x7000'0000'0000 + (memory.size() << 24U);
      piece.size = size;
      return piece;
    };
    const std::string_view view = text;
    try {
      EXPECT_NE(Image::load({&view, 1}, best_forms(), {}, give), nullptr);
      ++loaded;
    } catch (const LoadError& error) {
      ++refused;
      EXPECT_NE(seed, 0U) << error.what();
      EXPECT_TRUE(std::regex_match(error.what(), told) ||
                  error.kind() == LoadError::Kind::out_of_memory)
          << error.what() << "\nin the text of seed " << seed << ":\n"
          << text;
    }
  }
  EXPECT_GT(loaded, 200U);
  EXPECT_GT(refused, 2000U);
}

}  // namespace
}  // namespace cudacore::simulator
