// SPDX-License-Identifier: Apache-2.0
//
// Bits: logic, shifts, fields, counts, permutations of bytes, and dot products of bytes.
#include "simulator/ops/integer_forms.hpp"

namespace cudacore::simulator {
namespace {

template <class T>
T bit_and(T a, T b) {
  return a & b;
}
template <class T>
T bit_or(T a, T b) {
  return a | b;
}
template <class T>
T bit_xor(T a, T b) {
  return a ^ b;
}
template <class T>
T bit_not(T a) {
  return static_cast<T>(~a);
}
template <class T>
T cnot(T a) {
  return a == 0 ? T{1} : T{0};
}

enum class Logic { and_, or_, xor_ };

template <Logic logic>
std::uint32_t combine(std::uint32_t a, std::uint32_t b) {
  if constexpr (logic == Logic::and_) return a & b;
  if constexpr (logic == Logic::or_) return a | b;
  if constexpr (logic == Logic::xor_) return a ^ b;
}
template <Logic logic>
void predicates(Warp& warp, const Instruction& in) {
  warp.set_mask(in.op[0], warp.enabled(in),
                combine<logic>(warp.mask(in.op[1]), warp.mask(in.op[2])));
}
void not_predicate(Warp& warp, const Instruction& in) {
  warp.set_mask(in.op[0], warp.enabled(in), ~warp.mask(in.op[1]));
}

/// The eight results of a table of three bits, each as a word of zeros or ones, selected by the
/// bits of c, b and a in turn.
struct LookUp {
  explicit LookUp(u32 table) {
    for (unsigned k = 0; k < 4; ++k) {
      low[k] = u32{0} - ((table >> (2 * k)) & 1);
      differs[k] = low[k] ^ (u32{0} - ((table >> (2 * k + 1)) & 1));
    }
  }
  [[nodiscard, gnu::always_inline]] u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 r0 = low[0] ^ (c & differs[0]);
    const u32 r1 = low[1] ^ (c & differs[1]);
    const u32 r2 = low[2] ^ (c & differs[2]);
    const u32 r3 = low[3] ^ (c & differs[3]);
    const u32 r01 = r0 ^ (b & (r0 ^ r1));
    const u32 r23 = r2 ^ (b & (r2 ^ r3));
    return r01 ^ (a & (r01 ^ r23));
  }
  u32 low[4];
  u32 differs[4];
};
[[gnu::always_inline]] inline void look_up(u32* d, const u32* a, const u32* b, const u32* c,
                                           u32 table) {
  const LookUp f(table);
#pragma GCC ivdep
  for (unsigned i = 0; i < warp_size; ++i) d[i] = f(a[i], b[i], c[i]);
}
void lop3(Warp& warp, const Instruction& in) {
  const u32* a = warp.row<u32>(in.op[1]);
  const u32* b = warp.row<u32>(in.op[2]);
  const u32* c = warp.row<u32>(in.op[3]);
  write_row(
      warp.row<u32>(in.op[0]), warp.enabled(in), [&](u32 * d) __attribute__((always_inline)) {
        look_up(d, a, b, c, in.op[4]);
      });
}
bool not_equal(u32 a, u32 b) { return a != b; }
/// d|p, a, b, c, immLut, q: the seventh operand's offset is in Instruction::imm.
template <Logic logic>
void lop3_predicate(Warp& warp, const Instruction& in) {
  alignas(64) static constexpr u32 zeros[warp_size] = {};
  alignas(64) u32 result[warp_size];
  look_up(result, warp.row<u32>(in.op[2]), warp.row<u32>(in.op[3]), warp.row<u32>(in.op[4]),
          in.op[5]);
  const std::uint32_t lanes = warp.enabled(in);
  const std::uint32_t with = warp.mask(static_cast<std::uint32_t>(in.imm));
  blend(warp.row<u32>(in.op[0]), result, lanes);
  warp.set_mask(in.op[1], lanes, combine<logic>(mask_of<not_equal>(result, zeros), with));
}

template <class T>
T shl(T a, u32 n) {
  return n < bits_of<T> ? static_cast<T>(a << (n & (bits_of<T> - 1))) : T{0};
}
template <class T>
T shr(T a, u32 n) {
  if constexpr (is_signed<T>) {
    return static_cast<T>(a >> (n < bits_of<T> ? n : bits_of<T> - 1));
  } else {
    return n < bits_of<T> ? static_cast<T>(a >> (n & (bits_of<T> - 1))) : T{0};
  }
}
// The funnel has b above a.
template <bool wrap>
u32 funnel_left(u32 a, u32 b, u32 n) {
  const u32 shift = wrap ? n & 31 : n < 32 ? n : 32;
  return static_cast<u32>((((u64{b} << 32) | a) << shift) >> 32);
}
template <bool wrap>
u32 funnel_right(u32 a, u32 b, u32 n) {
  const u32 shift = wrap ? n & 31 : n < 32 ? n : 32;
  return static_cast<u32>(((u64{b} << 32) | a) >> shift);
}

// Sums of neighboring bits, because not every ISA can count the bits in vectors.
template <class T>
u32 popc(T a) {
  constexpr auto pairs = static_cast<T>(0x5555555555555555u);
  constexpr auto nibbles = static_cast<T>(0x3333333333333333u);
  constexpr auto bytes = static_cast<T>(0x0f0f0f0f0f0f0f0fu);
  T v = a - ((a >> 1) & pairs);
  v = (v & nibbles) + ((v >> 2) & nibbles);
  v = (v + (v >> 4)) & bytes;
  v += v >> 8;
  v += v >> 16;
  if constexpr (sizeof(T) == 8) v += v >> 32;
  return static_cast<u32>(v & 0x7f);
}
template <class T>
u32 clz(T a) {
  if constexpr (sizeof(T) == 4) return a == 0 ? 32 : static_cast<u32>(__builtin_clz(a | 1));
  if constexpr (sizeof(T) == 8) return a == 0 ? 64 : static_cast<u32>(__builtin_clzll(a | 1));
}
/// Without `shift`, the position of the highest bit that differs from the sign; with it, the
/// distance from the top to that bit.
template <class T, bool shift>
u32 bfind(T a) {
  using U = Unsigned<T>;
  const U bits = static_cast<U>(is_signed<T> && a < 0 ? ~a : a);
  const u32 zeros = clz<U>(bits);
  return bits == 0 ? ~u32{0} : shift ? zeros : bits_of<T> - 1 - zeros;
}
template <class T>
T brev(T a) {
  T v = a;
  v = ((v >> 1) & static_cast<T>(0x5555555555555555u)) |
      ((v & static_cast<T>(0x5555555555555555u)) << 1);
  v = ((v >> 2) & static_cast<T>(0x3333333333333333u)) |
      ((v & static_cast<T>(0x3333333333333333u)) << 2);
  v = ((v >> 4) & static_cast<T>(0x0f0f0f0f0f0f0f0fu)) |
      ((v & static_cast<T>(0x0f0f0f0f0f0f0f0fu)) << 4);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(v);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(v);
}
/// The position of the n-th set bit, from `base` upwards, or downwards for n < 0.
u32 fns(u32 mask, u32 base, s32 n) {
  constexpr u32 none = ~u32{0};
  if (base > 31) return none;
  if (n == 0) return ((mask >> base) & 1) != 0 ? base : none;
  u32 left = n > 0 ? static_cast<u32>(n) : u32{0} - static_cast<u32>(n);
  const int step = n > 0 ? 1 : -1;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if (((mask >> at) & 1) != 0 && --left == 0) return static_cast<u32>(at);
  }
  return none;
}

/// `n` ones at the bottom; n may exceed the width.
template <class T>
T ones(u32 n) {
  return n < bits_of<T> ? static_cast<T>((T{1} << (n & (bits_of<T> - 1))) - 1)
                        : static_cast<T>(~T{0});
}
/// A position or a length of a bit field. PTX says that the low eight bits count; for 64-bit
/// fields, which no GPU has as an instruction, all bits count.
template <class T>
u32 field_number(u32 n) {
  return bits_of<T> == 64 ? n : n & 0xff;
}
template <class T>
T bfe(T a, u32 b, u32 c) {
  using U = Unsigned<T>;
  const u32 length = field_number<T>(c);
  const U field = ones<U>(length);
  // Past the top, the result has zeros or copies of the sign.
  const auto shifted = static_cast<U>(shr<T>(a, field_number<T>(b)));
  U value = shifted & field;
  if constexpr (is_signed<T>) {
    const u32 top = length - 1;
    const bool sign = top < bits_of<T> && ((shifted >> (top & (bits_of<T> - 1))) & 1) != 0;
    value |= sign ? static_cast<U>(~field) : U{0};
  }
  return static_cast<T>(value);
}
template <class T>
T bfi(T a, T b, u32 c, u32 d) {
  const u32 at = field_number<T>(c);
  const T field = shl<T>(ones<T>(field_number<T>(d)), at);
  return (b & ~field) | (shl<T>(a, at) & field);
}
template <bool wrap>
u32 bmsk(u32 a, u32 b) {
  const u32 at = a & 31;
  const u32 length = b & 31;
  const u32 from = !wrap && a >= 32 ? 0 : ~u32{0} << at;
  const bool past = at + length >= 32 || (!wrap && (a >= 32 || b >= 32));
  const u32 beyond = past ? 0 : ~u32{0} << ((at + length) & 31);
  return from & ~beyond;
}
template <class T, bool wrap>
T szext(T a, u32 b) {
  const u32 length = b & 31;
  const bool whole = !wrap && b >= 32;
  const u32 above = whole ? 0 : ~u32{0} << length;
  const bool sign = is_signed<T> && length != 0 && !whole &&
                    ((static_cast<u32>(a) >> ((length - 1) & 31)) & 1) != 0;
  return static_cast<T>((static_cast<u32>(a) & ~above) | (sign ? above : 0));
}

/// Bytes of b:a, selected by the nibbles of c; the top bit of a nibble selects copies of the byte's
/// sign.
u32 prmt(u32 a, u32 b, u32 c) {
  const u64 bytes = (u64{b} << 32) | a;
  u32 d = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 select = c >> (4 * i);
    const auto byte = static_cast<u32>(bytes >> ((select & 7) * 8)) & 0xff;
    const u32 sign = (byte >> 7) != 0 ? 0xff : 0;
    d |= ((select & 8) != 0 ? sign : byte) << (8 * i);
  }
  return d;
}
/// The modes of prmt: nibbles for each of the four values of c.
template <u32 s0, u32 s1, u32 s2, u32 s3>
u32 prmt_mode(u32 a, u32 b, u32 c) {
  const u32 even = (c & 1) != 0 ? s1 : s0;
  const u32 odd = (c & 1) != 0 ? s3 : s2;
  return prmt(a, b, (c & 2) != 0 ? odd : even);
}

template <class A, unsigned bits>
s32 element(u32 row, unsigned i) {
  const u32 up = row << (32 - bits - bits * i);
  if constexpr (is_signed<A>) return static_cast<s32>(up) >> (32 - bits);
  return static_cast<s32>(up >> (32 - bits));
}
template <class A, class B>
u32 dp4a(u32 a, u32 b, u32 c) {
  u32 sum = c;
  for (unsigned i = 0; i < 4; ++i) {
    sum += static_cast<u32>(element<A, 8>(a, i) * element<B, 8>(b, i));
  }
  return sum;
}
template <class A, class B, unsigned first>
u32 dp2a(u32 a, u32 b, u32 c) {
  u32 sum = c;
  for (unsigned i = 0; i < 2; ++i) {
    sum += static_cast<u32>(element<A, 16>(a, i) * element<B, 8>(b, first + i));
  }
  return sum;
}

template <class T>
void add_logic(FormTable& table) {
  constexpr const char* type = dot_bits<T>();
  add_lanes<bit_and<T>>(table, "and", type);
  add_lanes<bit_or<T>>(table, "or", type);
  add_lanes<bit_xor<T>>(table, "xor", type);
  add_lanes<bit_not<T>>(table, "not", type);
  add_lanes<cnot<T>>(table, "cnot", type);
  add_lanes<shl<T>>(table, "shl", type);
  add_lanes<shr<T>>(table, "shr", type);
  add_lanes<shr<T>>(table, "shr", dot_name<T>());
  add_lanes<shr<Signed<T>>>(table, "shr", dot_name<Signed<T>>());
}
template <class T>
void add_fields(FormTable& table) {
  using S = Signed<T>;
  constexpr const char* type = dot_bits<T>();
  add_lanes<popc<T>>(table, "popc", type);
  add_lanes<clz<T>>(table, "clz", type);
  add_lanes<brev<T>>(table, "brev", type);
  add_lanes<bfi<T>>(table, "bfi", type);
  add_lanes<bfind<T, false>>(table, "bfind", dot_name<T>());
  add_lanes<bfind<S, false>>(table, "bfind", dot_name<S>());
  add_lanes<bfind<T, true>>(table, "bfind.shiftamt", dot_name<T>());
  add_lanes<bfind<S, true>>(table, "bfind.shiftamt", dot_name<S>());
  add_lanes<bfe<T>>(table, "bfe", dot_name<T>());
  add_lanes<bfe<S>>(table, "bfe", dot_name<S>());
}
template <class A, class B>
void add_dot_products(FormTable& table) {
  constexpr const char* a = dot_name<A>();
  constexpr const char* b = dot_name<B>();
  table.add({"dp4a", a, b}, "wwww", Lanes<dp4a<A, B>>::run);
  table.add({"dp2a.lo", a, b}, "wwww", Lanes<dp2a<A, B, 0>>::run);
  table.add({"dp2a.hi", a, b}, "wwww", Lanes<dp2a<A, B, 2>>::run);
}

}  // namespace

template <>
void add_integer_bits<this_isa>(FormTable& table) {
  table.add({"and.pred"}, "ppp", predicates<Logic::and_>);
  table.add({"or.pred"}, "ppp", predicates<Logic::or_>);
  table.add({"xor.pred"}, "ppp", predicates<Logic::xor_>);
  table.add({"not.pred"}, "pp", not_predicate);
  add_logic<u16>(table);
  add_logic<u32>(table);
  add_logic<u64>(table);
  add_fields<u32>(table);
  add_fields<u64>(table);

  table.add({"lop3.b32"}, "wwwwi", lop3);
  table.add({"lop3.or.b32"}, "w|pwwwip", lop3_predicate<Logic::or_>);
  table.add({"lop3.and.b32"}, "w|pwwwip", lop3_predicate<Logic::and_>);
  add_lanes<funnel_left<false>>(table, "shf.l.clamp", ".b32");
  add_lanes<funnel_left<true>>(table, "shf.l.wrap", ".b32");
  add_lanes<funnel_right<false>>(table, "shf.r.clamp", ".b32");
  add_lanes<funnel_right<true>>(table, "shf.r.wrap", ".b32");
  add_lanes<fns>(table, "fns", ".b32");
  add_lanes<bmsk<false>>(table, "bmsk.clamp", ".b32");
  add_lanes<bmsk<true>>(table, "bmsk.wrap", ".b32");
  add_lanes<szext<u32, false>>(table, "szext.clamp", ".u32");
  add_lanes<szext<s32, false>>(table, "szext.clamp", ".s32");
  add_lanes<szext<u32, true>>(table, "szext.wrap", ".u32");
  add_lanes<szext<s32, true>>(table, "szext.wrap", ".s32");

  add_lanes<prmt>(table, "prmt", ".b32");
  add_lanes<prmt_mode<0x3210, 0x4321, 0x5432, 0x6543>>(table, "prmt.b32", ".f4e");
  add_lanes<prmt_mode<0x5670, 0x6701, 0x7012, 0x0123>>(table, "prmt.b32", ".b4e");
  add_lanes<prmt_mode<0x0000, 0x1111, 0x2222, 0x3333>>(table, "prmt.b32", ".rc8");
  add_lanes<prmt_mode<0x3210, 0x3211, 0x3222, 0x3333>>(table, "prmt.b32", ".ecl");
  add_lanes<prmt_mode<0x0000, 0x1110, 0x2210, 0x3210>>(table, "prmt.b32", ".ecr");
  add_lanes<prmt_mode<0x1010, 0x3232, 0x1010, 0x3232>>(table, "prmt.b32", ".rc16");

  add_dot_products<u32, u32>(table);
  add_dot_products<u32, s32>(table);
  add_dot_products<s32, u32>(table);
  add_dot_products<s32, s32>(table);
}

}  // namespace cudacore::simulator
