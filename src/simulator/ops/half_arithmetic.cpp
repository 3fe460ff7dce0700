// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 arithmetic, for single values and packed pairs.
#include "simulator/ops/families.hpp"
#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {
namespace {

using Bits = std::uint16_t;

enum class End : std::uint8_t { none, sat, relu };

/// The last steps for a half-precision result: .ftz, then .sat or .relu.
template <class Half, bool Ftz, End How>
[[gnu::always_inline]] inline Bits finish_half(float x) noexcept {
  Bits half = Half::narrow(x);
  if constexpr (Ftz) {
    // Results that are less than the smallest normal number before rounding become zero, even if
    // they round to it.
    const std::uint32_t bits = bits_as<std::uint32_t>(x);
    const bool tiny = (bits & 0x7fffffff) < Half::least_kept;
    half = static_cast<Bits>(tiny ? (bits >> 16) & 0x8000 : half);
  }
  if constexpr (How == End::sat) {
    // Positive values compare like integers; negative values and NaNs are beyond infinity.
    const Bits most = half < Half::one ? half : Half::one;
    half = half <= Half::infinity ? most : Bits{0};
  }
  if constexpr (How == End::relu) half = (half & 0x8000) != 0 ? Bits{0} : half;
  return half;
}

template <class Half, bool Ftz>
[[gnu::always_inline]] inline float start_half(Bits half) noexcept {
  return Half::widen(Ftz ? Half::flush(half) : half);
}

template <class Half, bool Ftz, End How>
Bits add_half(Bits a, Bits b) noexcept {
  return finish_half<Half, Ftz, How>(Half::add(start_half<Half, Ftz>(a), start_half<Half, Ftz>(b)));
}
template <class Half, bool Ftz, End How>
Bits sub_half(Bits a, Bits b) noexcept {
  return finish_half<Half, Ftz, How>(
      Half::add(start_half<Half, Ftz>(a), -start_half<Half, Ftz>(b)));
}
template <class Half, bool Ftz, End How>
Bits mul_half(Bits a, Bits b) noexcept {
  return finish_half<Half, Ftz, How>(
      Half::multiply(start_half<Half, Ftz>(a), start_half<Half, Ftz>(b)));
}
template <class Half, bool Ftz, End How>
Bits fma_half(Bits a, Bits b, Bits c) noexcept {
  return finish_half<Half, Ftz, How>(
      Half::fma(start_half<Half, Ftz>(a), start_half<Half, Ftz>(b), start_half<Half, Ftz>(c)));
}

/// The NaN, of either sign, that tensor copies use for elements that are out of bounds.
inline constexpr Bits out_of_bounds = 0x7ff7;

/// .oob: such a factor makes the result zero.
template <class Half, End How>
Bits fma_oob_half(Bits a, Bits b, Bits c) noexcept {
  const Bits result = fma_half<Half, false, How>(a, b, c);
  const bool beyond = (a & 0x7fff) == out_of_bounds || (b & 0x7fff) == out_of_bounds;
  return beyond ? Bits{0} : result;
}

template <class Half, bool Ftz>
Bits negate_half(Bits a) noexcept {
  const auto result = static_cast<Bits>((Ftz ? Half::flush(a) : a) ^ 0x8000);
  return (a & 0x7fff) > Half::infinity ? half_nan : result;
}
template <class Half, bool Ftz>
Bits absolute_half(Bits a) noexcept {
  const auto result = static_cast<Bits>((Ftz ? Half::flush(a) : a) & 0x7fff);
  return result > Half::infinity ? half_nan : result;
}

/// The lesser or greater of two values, as integers in the same order.
template <class Half, bool Max>
[[gnu::always_inline]] inline Bits pick_half(Bits a, Bits b) noexcept {
  const auto x = static_cast<std::int16_t>((a & 0x8000) != 0 ? a ^ 0x7fff : a);
  const auto y = static_cast<std::int16_t>((b & 0x8000) != 0 ? b ^ 0x7fff : b);
  const bool a_is_nan = (a & 0x7fff) > Half::infinity;
  const bool b_is_nan = (b & 0x7fff) > Half::infinity;
  const Bits number = (Max ? x > y : x < y) ? a : b;
  const Bits with_b = a_is_nan ? b : number;
  const Bits with_a = a_is_nan ? half_nan : a;
  return b_is_nan ? with_a : with_b;
}

template <class Half, bool Max, bool Ftz, bool Nan, bool Xorsign>
Bits select_half(Bits a, Bits b) noexcept {
  const Bits x = Ftz ? Half::flush(a) : a;
  const Bits y = Ftz ? Half::flush(b) : b;
  const auto x_size = static_cast<Bits>(x & 0x7fff);
  const auto y_size = static_cast<Bits>(y & 0x7fff);
  Bits result;
  if constexpr (Xorsign) {
    result = static_cast<Bits>(pick_half<Half, Max>(x_size, y_size) | ((x ^ y) & 0x8000));
  } else {
    result = pick_half<Half, Max>(x, y);
  }
  const bool both = x_size > Half::infinity && y_size > Half::infinity;
  const bool either = x_size > Half::infinity || y_size > Half::infinity;
  return (Nan ? either : both) ? half_nan : result;
}

/// Adds a form for single values and one for pairs.
template <auto F>
void add_both(FormTable& table, const char* name, const char* type, const char* one,
              const char* pair) {
  table.add({name, type}, one, Lanes<F>::run);
  table.add({name, type, "x2"}, pair, Packed<std::uint32_t, F>::run);
}
template <auto F>
void add_one_operand(FormTable& table, const char* name, const char* type) {
  add_both<F>(table, name, type, "hh", "ww");
}
template <auto F>
void add_two_operands(FormTable& table, const char* name, const char* type) {
  add_both<F>(table, name, type, "hhh", "www");
}
template <auto F>
void add_three_operands(FormTable& table, const char* name, const char* type) {
  add_both<F>(table, name, type, "hhhh", "wwww");
}

template <class Half, bool Ftz, End How>
void add_arithmetic(FormTable& table, const char* type, const char* plain[3], const char* near[3],
                    const char* fma) {
  add_two_operands<add_half<Half, Ftz, How>>(table, plain[0], type);
  add_two_operands<sub_half<Half, Ftz, How>>(table, plain[1], type);
  add_two_operands<mul_half<Half, Ftz, How>>(table, plain[2], type);
  add_two_operands<add_half<Half, Ftz, How>>(table, near[0], type);
  add_two_operands<sub_half<Half, Ftz, How>>(table, near[1], type);
  add_two_operands<mul_half<Half, Ftz, How>>(table, near[2], type);
  add_three_operands<fma_half<Half, Ftz, How>>(table, fma, type);
}

template <class Half, bool Max, bool Ftz, bool Nan>
void add_select(FormTable& table, const char* name, const char* xorsign, const char* type) {
  add_two_operands<select_half<Half, Max, Ftz, Nan, false>>(table, name, type);
  add_two_operands<select_half<Half, Max, Ftz, Nan, true>>(table, xorsign, type);
}

template <class Half>
void add_common(FormTable& table, const char* type) {
  add_three_operands<fma_half<Half, false, End::relu>>(table, "fma.rn.relu", type);
  add_three_operands<fma_oob_half<Half, End::none>>(table, "fma.rn.oob", type);
  add_three_operands<fma_oob_half<Half, End::relu>>(table, "fma.rn.oob.relu", type);
  add_one_operand<negate_half<Half, false>>(table, "neg", type);
  add_one_operand<absolute_half<Half, false>>(table, "abs", type);
  add_select<Half, false, false, false>(table, "min", "min.xorsign.abs", type);
  add_select<Half, false, false, true>(table, "min.NaN", "min.NaN.xorsign.abs", type);
  add_select<Half, true, false, false>(table, "max", "max.xorsign.abs", type);
  add_select<Half, true, false, true>(table, "max.NaN", "max.NaN.xorsign.abs", type);
}

void add_f16(FormTable& table) {
  const char* plain[] = {"add", "sub", "mul"};
  const char* near[] = {"add.rn", "sub.rn", "mul.rn"};
  add_arithmetic<F16, false, End::none>(table, ".f16", plain, near, "fma.rn");
  const char* plain_ftz[] = {"add.ftz", "sub.ftz", "mul.ftz"};
  const char* near_ftz[] = {"add.rn.ftz", "sub.rn.ftz", "mul.rn.ftz"};
  add_arithmetic<F16, true, End::none>(table, ".f16", plain_ftz, near_ftz, "fma.rn.ftz");
  const char* plain_sat[] = {"add.sat", "sub.sat", "mul.sat"};
  const char* near_sat[] = {"add.rn.sat", "sub.rn.sat", "mul.rn.sat"};
  add_arithmetic<F16, false, End::sat>(table, ".f16", plain_sat, near_sat, "fma.rn.sat");
  const char* plain_both[] = {"add.ftz.sat", "sub.ftz.sat", "mul.ftz.sat"};
  const char* near_both[] = {"add.rn.ftz.sat", "sub.rn.ftz.sat", "mul.rn.ftz.sat"};
  add_arithmetic<F16, true, End::sat>(table, ".f16", plain_both, near_both, "fma.rn.ftz.sat");
  add_three_operands<fma_half<F16, true, End::relu>>(table, "fma.rn.ftz.relu", ".f16");
  add_one_operand<negate_half<F16, true>>(table, "neg.ftz", ".f16");
  add_one_operand<absolute_half<F16, true>>(table, "abs.ftz", ".f16");
  add_select<F16, false, true, false>(table, "min.ftz", "min.ftz.xorsign.abs", ".f16");
  add_select<F16, false, true, true>(table, "min.ftz.NaN", "min.ftz.NaN.xorsign.abs", ".f16");
  add_select<F16, true, true, false>(table, "max.ftz", "max.ftz.xorsign.abs", ".f16");
  add_select<F16, true, true, true>(table, "max.ftz.NaN", "max.ftz.NaN.xorsign.abs", ".f16");
}

}  // namespace

template <>
void add_half_arithmetic<this_isa>(FormTable& table) {
  add_f16(table);
  const char* plain[] = {"add", "sub", "mul"};
  const char* near[] = {"add.rn", "sub.rn", "mul.rn"};
  add_arithmetic<Bf16, false, End::none>(table, ".bf16", plain, near, "fma.rn");
  add_common<F16>(table, ".f16");
  add_common<Bf16>(table, ".bf16");
}

}  // namespace cudacore::simulator
