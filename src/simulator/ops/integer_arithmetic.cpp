// SPDX-License-Identifier: Apache-2.0
//
// Sums, products and quotients of integers, with and without carry; absolute values and extremes.
#include "simulator/ops/integer_forms.hpp"

namespace cudacore::simulator {
namespace {

template <class T>
T add(T a, T b) {
  return static_cast<T>(a + b);
}
template <class T>
T sub(T a, T b) {
  return static_cast<T>(a - b);
}
// Products of 16-bit values would overflow int.
template <class T>
T mul_lo(T a, T b) {
  return static_cast<T>(u64{a} * b);
}
template <>
[[maybe_unused]] u32 mul_lo(u32 a, u32 b) {
  return a * b;
}
template <>
[[maybe_unused]] u16 mul_lo(u16 a, u16 b) {
  return static_cast<u16>(u32{a} * b);
}
template <class T>
T mad_lo(T a, T b, T c) {
  return static_cast<T>(mul_lo<T>(a, b) + c);
}
template <class T>
T mul_hi(T a, T b) {
  return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> bits_of<T>);
}
template <class T>
T mad_hi(T a, T b, T c) {
  using U = Unsigned<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(mul_hi<T>(a, b)) + static_cast<U>(c)));
}
template <class T>
Wider<T> mul_wide(T a, T b) {
  return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b);
}
template <class T>
Wider<T> mad_wide(T a, T b, Wider<T> c) {
  using U = Unsigned<Wider<T>>;
  return static_cast<Wider<T>>(static_cast<U>(mul_wide<T>(a, b)) + static_cast<U>(c));
}

template <class T, class Wide>
T clamp(Wide value) {
  constexpr Wide low = std::numeric_limits<T>::min();
  constexpr Wide high = std::numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : value > high ? high : value);
}
template <class T>
T add_sat(T a, T b) {
  return clamp<T>(s64{a} + s64{b});
}
template <class T>
T sub_sat(T a, T b) {
  return clamp<T>(s64{a} - s64{b});
}
// For elements of packed types: int is wide enough and vectorizes better.
template <class T>
T add_sat_small(T a, T b) {
  return clamp<T>(a + b);
}
template <class T>
T sub_sat_small(T a, T b) {
  return clamp<T>(a - b);
}
s32 mad_hi_sat(s32 a, s32 b, s32 c) { return clamp<s32>(((s64{a} * b) >> 32) + c); }

u32 low24(u32 a) { return a & 0xffffff; }
s32 low24(s32 a) { return static_cast<s32>(static_cast<u32>(a) << 8) >> 8; }
template <class T>
T mul24_lo(T a, T b) {
  return static_cast<T>(static_cast<u32>(low24(a)) * static_cast<u32>(low24(b)));
}
template <class T>
T mul24_hi(T a, T b) {
  return static_cast<T>((static_cast<Wider<T>>(low24(a)) * low24(b)) >> 16);
}
template <class T>
T mad24_lo(T a, T b, T c) {
  return static_cast<T>(static_cast<u32>(mul24_lo<T>(a, b)) + static_cast<u32>(c));
}
template <class T>
T mad24_hi(T a, T b, T c) {
  return static_cast<T>(static_cast<u32>(mul24_hi<T>(a, b)) + static_cast<u32>(c));
}
s32 mad24_hi_sat(s32 a, s32 b, s32 c) { return clamp<s32>(s64{mul24_hi<s32>(a, b)} + c); }

template <class T>
T sad(T a, T b, T c) {
  using U = Unsigned<T>;
  const auto x = static_cast<U>(a);
  const auto y = static_cast<U>(b);
  return static_cast<T>(static_cast<U>(static_cast<U>(a < b ? y - x : x - y) + static_cast<U>(c)));
}

// PTX leaves division by zero undefined; GPUs return all ones, for quotient and remainder. Divisors
// that would trap are replaced first. Quotients of 16 and 32 bits are computed in floating point
// that represents them exactly, because that vectorizes: if a true quotient is not an integer, its
// distance from the next integer is larger than the rounding error.
template <class T>
T div(T a, T b) {
  using U = Unsigned<T>;
  if constexpr (is_signed<T>) {
    const bool special = b == 0 || b == -1;
    const T divisor = special ? T{1} : b;
    T quotient;
    if constexpr (sizeof(T) == 8) {
      quotient = (a == static_cast<s32>(a) && divisor == static_cast<s32>(divisor))
                     ? static_cast<s32>(a) / static_cast<s64>(static_cast<s32>(divisor))
                     : a / divisor;
    } else if constexpr (sizeof(T) == 4) {
      quotient = static_cast<s32>(static_cast<double>(a) / static_cast<double>(divisor));
    } else {
      quotient =
          static_cast<s16>(static_cast<s32>(static_cast<float>(a) / static_cast<float>(divisor)));
    }
    quotient = b == -1 ? static_cast<T>(static_cast<U>(U{0} - static_cast<U>(a))) : quotient;
    return b == 0 ? T{-1} : quotient;
  } else {
    const bool special = b < 2;
    const T divisor = special ? T{2} : b;
    T quotient;
    if constexpr (sizeof(T) == 8) {
      quotient = ((a | divisor) >> 32) == 0 ? static_cast<u32>(a) / static_cast<u32>(divisor)
                                            : a / divisor;
    } else if constexpr (sizeof(T) == 4) {
      const auto exact = [](u32 v) __attribute__((always_inline)) {
        return static_cast<double>(static_cast<s32>(v ^ 0x80000000u)) + 2147483648.0;
      };
      quotient = static_cast<u32>(static_cast<s32>(exact(a) / exact(divisor)));
    } else {
      quotient = static_cast<u16>(static_cast<s32>(static_cast<float>(static_cast<s32>(a)) /
                                                   static_cast<float>(static_cast<s32>(divisor))));
    }
    quotient = b == 1 ? a : quotient;
    return b == 0 ? static_cast<T>(~T{0}) : quotient;
  }
}
template <class T>
T rem(T a, T b) {
  using U = Unsigned<T>;
  const auto whole = mul_lo<U>(static_cast<U>(div<T>(a, b)), static_cast<U>(b));
  const auto rest = static_cast<T>(static_cast<U>(static_cast<U>(a) - whole));
  return b == 0 ? static_cast<T>(~T{0}) : rest;
}

template <class T>
T neg(T a) {
  return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
}
template <class T>
T abs(T a) {
  return a < 0 ? neg<T>(a) : a;
}
template <class T>
T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T min_relu(T a, T b) {
  return max<T>(min<T>(a, b), T{0});
}
template <class T>
T max_relu(T a, T b) {
  return max<T>(max<T>(a, b), T{0});
}

/// The product of polynomials over GF(2), 128 bits.
u128 carryless_product(u64 a, u64 b) {
  u128 product = 0;
  for (unsigned i = 0; i < 64; ++i) {
    product ^= (static_cast<u128>(a) << i) & (u128{0} - ((b >> i) & 1));
  }
  return product;
}
u64 clmad_lo(u64 a, u64 b, u64 c) { return static_cast<u64>(carryless_product(a, b)) ^ c; }
u64 clmad_hi(u64 a, u64 b, u64 c) { return static_cast<u64>(carryless_product(a, b) >> 64) ^ c; }

/// Packed types: a row of 32-bit values is 64 or 128 adjacent elements.
template <auto F>
struct Packed;
template <class E, bool N, E (*F)(E) noexcept(N)>
struct Packed<F> {
  static constexpr const char* signature = "ww";
  static void run(Warp& warp, const Instruction& in) {
    const E* a = warp.row<E>(in.op[1]);
    write_row(warp.row<u32>(in.op[0]), warp.enabled(in), [&](u32* to) {
      E* d = reinterpret_cast<E*>(to);
#pragma GCC ivdep
      for (unsigned i = 0; i < warp_size * sizeof(u32) / sizeof(E); ++i) d[i] = F(a[i]);
    });
  }
};
template <class E, bool N, E (*F)(E, E) noexcept(N)>
struct Packed<F> {
  static constexpr const char* signature = "www";
  static void run(Warp& warp, const Instruction& in) {
    const E* a = warp.row<E>(in.op[1]);
    const E* b = warp.row<E>(in.op[2]);
    write_row(warp.row<u32>(in.op[0]), warp.enabled(in), [&](u32* to) {
      E* d = reinterpret_cast<E*>(to);
#pragma GCC ivdep
      for (unsigned i = 0; i < warp_size * sizeof(u32) / sizeof(E); ++i) d[i] = F(a[i], b[i]);
    });
  }
};

enum class Term { sum, difference, product_lo, product_hi };

/// d = a + b, a - b, a * b + c; with or without the carry flag as an additional summand, and with
/// or without writing the carry or borrow to it.
template <class T, Term term, bool In, bool Out>
void with_carry(Warp& warp, const Instruction& in) {
  constexpr bool product = term == Term::product_lo || term == Term::product_hi;
  using U = Unsigned<T>;
  using Sign = Signed<T>;
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  const T* c = warp.row<T>(product ? in.op[3] : in.op[2]);
  const std::uint32_t lanes = warp.enabled(in);
  // GPUs subtract by adding the complement: the flag is set if nothing is borrowed.
  constexpr std::uint32_t flip = term == Term::difference ? all_lanes : 0;
  const std::uint32_t carry_in = In ? warp.mask(carry_mask) ^ flip : 0;
  alignas(64) U result[warp_size];
  alignas(64) Sign carries[warp_size];
#pragma GCC ivdep
  for (unsigned i = 0; i < warp_size; ++i) {
    auto x = static_cast<U>(a[i]);
    if constexpr (term == Term::product_lo) {
      x = mul_lo<U>(x, static_cast<U>(b[i]));
    } else if constexpr (term == Term::product_hi) {
      x = static_cast<U>(mul_hi<T>(a[i], b[i]));
    }
    const auto y = static_cast<U>(c[i]);
    const U more = In && (carry_in & lane_bit[i]) != 0 ? U{1} : U{0};
    const U partial = term == Term::difference ? x - y : x + y;
    const U whole = term == Term::difference ? partial - more : partial + more;
    result[i] = whole;
    const bool first = term == Term::difference ? x < y : partial < x;
    const bool second = term == Term::difference ? partial < more : whole < partial;
    carries[i] = first || second ? Sign{-1} : Sign{0};
  }
  if constexpr (Out) warp.set_mask(carry_mask, lanes, mask_of_signs(carries) ^ flip);
  blend(warp.row<U>(in.op[0]), result, lanes);
}

template <class T, Term term>
void add_carry_forms(FormTable& table, const char* name, const char* with_in, const char* part,
                     const char* type) {
  constexpr bool product = term == Term::product_lo || term == Term::product_hi;
  const char* signature = product ? rows<T, T, T, T> : rows<T, T, T>;
  table.add({name, part, ".cc", type}, signature, with_carry<T, term, false, true>);
  table.add({with_in, part, type}, signature, with_carry<T, term, true, false>);
  table.add({with_in, part, ".cc", type}, signature, with_carry<T, term, true, true>);
}

template <class U>
void add_carries(FormTable& table) {
  for (const char* type : {dot_name<U>(), dot_name<Signed<U>>()}) {
    add_carry_forms<U, Term::sum>(table, "add", "addc", "", type);
    add_carry_forms<U, Term::difference>(table, "sub", "subc", "", type);
    add_carry_forms<U, Term::product_lo>(table, "mad", "madc", ".lo", type);
  }
  add_carry_forms<U, Term::product_hi>(table, "mad", "madc", ".hi", dot_name<U>());
  add_carry_forms<Signed<U>, Term::product_hi>(table, "mad", "madc", ".hi", dot_name<Signed<U>>());
}

/// Operations that don't depend on the sign.
template <class U>
void add_wrapping(FormTable& table) {
  add_both<add<U>, U>(table, "add");
  add_both<sub<U>, U>(table, "sub");
  add_both<mul_lo<U>, U>(table, "mul.lo");
  add_both<mad_lo<U>, U>(table, "mad.lo");
}

template <class T>
void add_sign_aware(FormTable& table) {
  constexpr const char* type = dot_name<T>();
  add_lanes<mul_hi<T>>(table, "mul.hi", type);
  add_lanes<mad_hi<T>>(table, "mad.hi", type);
  if constexpr (sizeof(T) < 8) {
    add_lanes<mul_wide<T>>(table, "mul.wide", type);
    add_lanes<mad_wide<T>>(table, "mad.wide", type);
  }
  add_lanes<sad<T>>(table, "sad", type);
  add_lanes<div<T>>(table, "div", type);
  add_lanes<rem<T>>(table, "rem", type);
  add_lanes<min<T>>(table, "min", type);
  add_lanes<max<T>>(table, "max", type);
  if constexpr (is_signed<T>) {
    add_lanes<neg<T>>(table, "neg", type);
    add_lanes<abs<T>>(table, "abs", type);
  }
}

template <class T>
void add_24_bits(FormTable& table) {
  add_lanes<mul24_lo<T>>(table, "mul24.lo", dot_name<T>());
  add_lanes<mul24_hi<T>>(table, "mul24.hi", dot_name<T>());
  add_lanes<mad24_lo<T>>(table, "mad24.lo", dot_name<T>());
  add_lanes<mad24_hi<T>>(table, "mad24.hi", dot_name<T>());
}

template <auto F>
void add_packed(FormTable& table, const char* opcode, const char* type) {
  table.add({opcode, type}, Packed<F>::signature, Packed<F>::run);
}
template <class E>
void add_packed_forms(FormTable& table, const char* type) {
  add_packed<add<Unsigned<E>>>(table, "add", type);
  add_packed<add_sat_small<E>>(table, "add.sat", type);
  add_packed<min<E>>(table, "min", type);
  add_packed<max<E>>(table, "max", type);
  if constexpr (sizeof(E) == 1) {
    add_packed<sub<Unsigned<E>>>(table, "sub", type);
    add_packed<sub_sat_small<E>>(table, "sub.sat", type);
  }
  if constexpr (sizeof(E) == 1 && is_signed<E>) add_packed<neg<E>>(table, "neg", type);
}
template <class E>
void add_packed_relu(FormTable& table, const char* type) {
  table.add({"min", type, ".relu"}, "www", Packed<min_relu<E>>::run);
  table.add({"max", type, ".relu"}, "www", Packed<max_relu<E>>::run);
}

}  // namespace

template <>
void add_integer_arithmetic<this_isa>(FormTable& table) {
  add_wrapping<u16>(table);
  add_wrapping<u32>(table);
  add_wrapping<u64>(table);
  add_sign_aware<u16>(table);
  add_sign_aware<s16>(table);
  add_sign_aware<u32>(table);
  add_sign_aware<s32>(table);
  add_sign_aware<u64>(table);
  add_sign_aware<s64>(table);
  add_24_bits<u32>(table);
  add_24_bits<s32>(table);
  add_carries<u32>(table);
  add_carries<u64>(table);
  add_lanes<add_sat<s32>>(table, "add.sat", ".s32");
  add_lanes<add_sat<u32>>(table, "add.sat", ".u32");
  add_lanes<sub_sat<s32>>(table, "sub.sat", ".s32");
  add_lanes<mad_hi_sat>(table, "mad.hi.sat", ".s32");
  add_lanes<mad24_hi_sat>(table, "mad24.hi.sat", ".s32");
  add_lanes<clmad_lo>(table, "clmad.lo", ".u64");
  add_lanes<clmad_hi>(table, "clmad.hi", ".u64");

  add_packed_forms<u16>(table, ".u16x2");
  add_packed_forms<s16>(table, ".s16x2");
  add_packed_forms<u8>(table, ".u8x4");
  add_packed_forms<s8>(table, ".s8x4");
  add_packed_relu<s16>(table, ".s16x2");
  add_packed_relu<s8>(table, ".s8x4");
  add_packed_relu<s32>(table, ".s32");
}

}  // namespace cudacore::simulator
