// SPDX-License-Identifier: Apache-2.0
//
// What video instructions compute in one lane. GPUs have no scalar ones (vadd, vset, vmad ...): the
// assembler replaces each by a sequence. If that sequence differs from PTX's manual, the lane
// functions do what the sequence does.
#pragma once

#include "simulator/ops/integer_forms.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

enum class Op : u8 { add, sub, absdiff, min, max, avrg, set, shl, shr };
enum class Then : u8 { none, sat, add, min, max };
enum class Comparison : u8 { eq, ne, lt, le, gt, ge };

bool compares(Comparison comparison, s64 a, s64 b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
  }
  return false;
}

/// What an instruction does, except for its selectors.
struct Video {
  Op op = Op::add;
  Then then = Then::none;
  Comparison comparison = Comparison::eq;
  bool sat = false;  ///< in addition to `then`, for scalar ones
  bool wrap = false;
  bool signed_d = false;
  bool signed_a = false;
  bool signed_b = false;
};

s64 operate(const Video& video, s64 a, s64 b) {
  switch (video.op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::absdiff:
      return a < b ? b - a : a - b;
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a < b ? b : a;
    case Op::avrg:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Op::set:
      return compares(video.comparison, a, b) ? 1 : 0;
    default:
      break;
  }
  return 0;
}
s64 extend(u32 raw, unsigned at, unsigned bits, bool with_sign) {
  const u64 up = u64{raw >> at} << (64 - bits);
  return with_sign ? static_cast<s64>(up) >> (64 - bits) : static_cast<s64>(up >> (64 - bits));
}

constexpr s64 clamp_to(unsigned bits, bool with_sign, s64 value) {
  const s64 low = with_sign ? -(s64{1} << (bits - 1)) : 0;
  const s64 high = (s64{1} << (with_sign ? bits - 1 : bits)) - 1;
  return value < low ? low : value > high ? high : value;
}

/// A selector of a scalar instruction: none, .b0 to .b3, .h0, .h1.
struct Part {
  explicit Part(u32 code)
      : at(code == 0  ? 0
           : code < 5 ? 8 * (code - 1)
                      : 16 * (code - 5)),
        bits(code == 0  ? 32
             : code < 5 ? 8
                        : 16) {}
  [[nodiscard]] s64 of(u32 raw, bool with_sign) const { return extend(raw, at, bits, with_sign); }
  unsigned at;
  unsigned bits;
};

constexpr bool shifts(const Video& video) { return video.op == Op::shl || video.op == Op::shr; }

/// 33 bits shifted by up to 32.
constexpr s64 shift(const Video& video, s64 a, s64 b) {
  const s64 n = video.wrap ? b & 31 : b < 32 ? b : 32;
  return video.op == Op::shr ? a >> n : static_cast<s64>(static_cast<u64>(a) << n);
}

/// .sat, which is not always as PTX describes it: a shift is truncated to 34 bits and then clamped
/// to 32, whichever part of d it goes to; other results that go to a part treat negative numbers as
/// large ones; and results that go to the whole of a .u32 have no upper bound.
constexpr s64 saturate(const Video& video, unsigned bits, s64 value) {
  if (shifts(video)) {
    return clamp_to(32, video.signed_d, static_cast<s64>(static_cast<u64>(value) << 30) >> 30);
  }
  if (bits < 32) {
    const u64 top = (u64{1} << (video.signed_d ? bits - 1 : bits)) - 1;
    return static_cast<s64>(static_cast<u64>(value) < top ? static_cast<u64>(value) : top);
  }
  return video.signed_d ? clamp_to(32, true, value) : value < 0 ? 0 : value;
}

/// The minimum or maximum with c as .s32 or .u32. PTX compares 32 bits. Here some results keep
/// those bits; the others are sign-extended, even for unsigned comparisons.
constexpr u32 then_choose(const Video& video, s64 value, u32 c) {
  const bool narrow = video.op == Op::add || video.op == Op::sub || (shifts(video) && video.sat);
  if (narrow) value = static_cast<s32>(value);
  const s64 third = video.signed_d ? static_cast<s64>(static_cast<s32>(c)) : s64{c};
  const bool less =
      video.signed_d ? value < third : static_cast<u64>(value) < static_cast<u64>(third);
  return static_cast<u32>(less == (video.then == Then::min) ? value : third);
}

u32 scalar_lane(const Video& video, const Part& part_d, const Part& part_a, const Part& part_b,
                u32 a, u32 b, u32 c) {
  const s64 x = part_a.of(a, video.signed_a);
  const s64 y = part_b.of(b, video.signed_b);
  s64 value = shifts(video) ? shift(video, x, y) : operate(video, x, y);
  if (video.sat) value = saturate(video, part_d.bits, value);
  const auto low = static_cast<u32>(value);
  if (video.then == Then::add) return low + c;
  if (video.then == Then::min || video.then == Then::max) return then_choose(video, value, c);
  if (part_d.bits == 32) return low;
  const u32 field = ((1u << part_d.bits) - 1) << part_d.at;
  // PTX moves the low half to .h1; here the high half stays where it is.
  const u32 placed = part_d.bits == 16 ? low : low << part_d.at;
  return (c & ~field) | (placed & field);
}

/// vmad, except for its selectors.
struct Mad {
  bool signed_a = false;
  bool signed_b = false;
  bool plus_one = false;
  bool sat = false;
  unsigned shift = 0;
};

/// a * b + c in 64 bits, then shifted. Unlike in PTX, all three operands are sign-extended, even
/// .u32; the result is unsigned if nothing in the instruction is signed.
u32 mad_lane(const Mad& mad, bool minus_product, bool minus_c, s64 a, s64 b, u32 c) {
  const bool with_sign = mad.signed_a || mad.signed_b || minus_product || minus_c;
  s64 sum = s64{static_cast<s32>(a)} * static_cast<s32>(b);
  if (mad.plus_one) {
    sum += 1;
  } else if (minus_product) {
    sum = -sum;
  } else if (minus_c) {
    c = ~c;
    sum += 1;
  }
  sum += static_cast<s32>(c);
  if (mad.shift != 0) {
    sum = with_sign ? sum >> mad.shift : static_cast<s64>(static_cast<u64>(sum) >> mad.shift);
  }
  return static_cast<u32>(mad.sat ? clamp_to(32, with_sign, sum) : sum);
}

}  // namespace
}  // namespace cudacore::simulator
