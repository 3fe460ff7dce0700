// SPDX-License-Identifier: Apache-2.0
//
// Single- and double-precision arithmetic for one lane, with the processor's current rounding mode.
#pragma once

#include <cstdint>

#include "simulator/ops/float_bits.hpp"
#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/rounding_scope.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

struct Add {
  static constexpr bool may_be_tiny = false;
  static constexpr bool first_nan_first = false;
  template <class T>
  [[gnu::always_inline]] static T of(T a, T b) noexcept {
    return a + b;
  }
};
struct Sub {
  static constexpr bool may_be_tiny = false;
  static constexpr bool first_nan_first = false;
  template <class T>
  [[gnu::always_inline]] static T of(T a, T b) noexcept {
    return a - b;
  }
};
struct Mul {
  static constexpr bool may_be_tiny = true;
  static constexpr bool first_nan_first = false;
  template <class T>
  [[gnu::always_inline]] static T of(T a, T b) noexcept {
    return a * b;
  }
};
struct Div {
  static constexpr bool may_be_tiny = true;
  static constexpr bool first_nan_first = true;
  template <class T>
  [[gnu::always_inline]] static T of(T a, T b) noexcept {
    return a / b;
  }
};
struct Sqrt {
  [[gnu::always_inline]] static float of(float a) noexcept { return __builtin_sqrtf(a); }
  [[gnu::always_inline]] static double of(double a) noexcept { return __builtin_sqrt(a); }
};
struct Rcp {
  template <class T>
  [[gnu::always_inline]] static T of(T a) noexcept {
    return T{1} / a;
  }
};
[[gnu::always_inline]] inline float fused(float a, float b, float c) noexcept {
  return __builtin_fmaf(a, b, c);
}
[[gnu::always_inline]] inline double fused(double a, double b, double c) noexcept {
  return __builtin_fma(a, b, c);
}

template <class Op, bool Ftz>
float unary_f32(float a) noexcept {
  return finish<Ftz, false>(Op::of(flush_if<Ftz>(a)));
}
template <class Op>
double unary_f64(double a) noexcept {
  return finish(Op::of(a), a);
}
template <class Op, bool Ftz, bool Sat>
float binary_f32(float a, float b) noexcept {
  const float x = flush_if<Ftz>(a);
  const float y = flush_if<Ftz>(b);
  float result = Op::of(x, y);
  if constexpr (Ftz && Op::may_be_tiny) result = flush_tiny(result, Op::of(x * 0x1p24f, y));
  return finish<Ftz, Sat>(result);
}
template <class Op>
double binary_f64(double a, double b) noexcept {
  const double result = Op::of(a, b);
  return Op::first_nan_first ? finish(result, b, a) : finish(result, a, b);
}
template <bool Ftz, bool Sat>
float fma_f32(float a, float b, float c) noexcept {
  const float x = flush_if<Ftz>(a);
  const float y = flush_if<Ftz>(b);
  const float z = flush_if<Ftz>(c);
  float result = fused(x, y, z);
  if constexpr (Ftz) result = flush_tiny(result, fused(x * 0x1p24f, y, z * 0x1p24f));
  return finish<Ftz, Sat>(result);
}
inline double fma_f64(double a, double b, double c) noexcept {
  return finish(fused(a, b, c), a, b, c);
}
template <class Op, class Half, bool Sat>
float mixed_binary(std::uint16_t a, float c) noexcept {
  return finish<false, Sat>(Op::of(Half::widen(a), c));
}
template <class Half, bool Sat>
float mixed_fma(std::uint16_t a, std::uint16_t b, float c) noexcept {
  return finish<false, Sat>(fused(Half::widen(a), Half::widen(b), c));
}

/// Handlers without a wrapper.
struct Plain {
  template <Handler Run>
  static constexpr Handler of = Run;
};
/// Handlers that run with another rounding mode.
template <Rounding R>
struct Rounded {
  template <Handler Run>
  static constexpr Handler of = rounded<R, Run>;
};

template <class Wrap, class Op>
void add_binary(FormTable& table, const char* name, const char* rounding) {
  table.add({name, rounding, ".f32"}, "www",
            Wrap::template of<Lanes<binary_f32<Op, false, false>>::run>);
  table.add({name, rounding, ".ftz.f32"}, "www",
            Wrap::template of<Lanes<binary_f32<Op, true, false>>::run>);
  table.add({name, rounding, ".sat.f32"}, "www",
            Wrap::template of<Lanes<binary_f32<Op, false, true>>::run>);
  table.add({name, rounding, ".ftz.sat.f32"}, "www",
            Wrap::template of<Lanes<binary_f32<Op, true, true>>::run>);
  table.add({name, rounding, ".f64"}, "xxx", Wrap::template of<Lanes<binary_f64<Op>>::run>);
  table.add({name, rounding, ".f32x2"}, "xxx",
            Wrap::template of<Packed<std::uint64_t, binary_f32<Op, false, false>>::run>);
  table.add({name, rounding, ".ftz.f32x2"}, "xxx",
            Wrap::template of<Packed<std::uint64_t, binary_f32<Op, true, false>>::run>);
}

template <class Wrap, class Op, class Half>
void add_mixed_binary(FormTable& table, const char* name, const char* rounding, const char* type) {
  table.add({name, rounding, ".f32", type}, "whw",
            Wrap::template of<Lanes<mixed_binary<Op, Half, false>>::run>);
  table.add({name, rounding, ".sat.f32", type}, "whw",
            Wrap::template of<Lanes<mixed_binary<Op, Half, true>>::run>);
}

template <class Wrap, class Half>
void add_mixed_fma(FormTable& table, const char* rounding, const char* type) {
  table.add({"fma", rounding, ".f32", type}, "whhw",
            Wrap::template of<Lanes<mixed_fma<Half, false>>::run>);
  table.add({"fma", rounding, ".sat.f32", type}, "whhw",
            Wrap::template of<Lanes<mixed_fma<Half, true>>::run>);
}

template <class Wrap>
void add_fma(FormTable& table, const char* name, const char* rounding) {
  table.add({name, rounding, ".f32"}, "wwww", Wrap::template of<Lanes<fma_f32<false, false>>::run>);
  table.add({name, rounding, ".ftz.f32"}, "wwww",
            Wrap::template of<Lanes<fma_f32<true, false>>::run>);
  table.add({name, rounding, ".sat.f32"}, "wwww",
            Wrap::template of<Lanes<fma_f32<false, true>>::run>);
  table.add({name, rounding, ".ftz.sat.f32"}, "wwww",
            Wrap::template of<Lanes<fma_f32<true, true>>::run>);
  table.add({name, rounding, ".f64"}, "xxxx", Wrap::template of<Lanes<fma_f64>::run>);
}

template <class Wrap, class Op>
void add_unary(FormTable& table, const char* name, const char* rounding) {
  table.add({name, rounding, ".f32"}, "ww", Wrap::template of<Lanes<unary_f32<Op, false>>::run>);
  table.add({name, rounding, ".ftz.f32"}, "ww", Wrap::template of<Lanes<unary_f32<Op, true>>::run>);
  table.add({name, rounding, ".f64"}, "xx", Wrap::template of<Lanes<unary_f64<Op>>::run>);
}

/// Forms that may be written without a rounding mode.
template <class Wrap>
void add_sums_and_products(FormTable& table, const char* rounding) {
  add_binary<Wrap, Add>(table, "add", rounding);
  add_binary<Wrap, Sub>(table, "sub", rounding);
  add_binary<Wrap, Mul>(table, "mul", rounding);
  add_mixed_binary<Wrap, Add, F16>(table, "add", rounding, ".f16");
  add_mixed_binary<Wrap, Add, Bf16>(table, "add", rounding, ".bf16");
  add_mixed_binary<Wrap, Sub, F16>(table, "sub", rounding, ".f16");
  add_mixed_binary<Wrap, Sub, Bf16>(table, "sub", rounding, ".bf16");
}

/// Forms that are always written with their rounding mode.
template <class Wrap>
void add_rounded_only(FormTable& table, const char* rounding) {
  add_fma<Wrap>(table, "fma", rounding);
  add_fma<Wrap>(table, "mad", rounding);
  table.add({"fma", rounding, ".f32x2"}, "xxxx",
            Wrap::template of<Packed<std::uint64_t, fma_f32<false, false>>::run>);
  table.add({"fma", rounding, ".ftz.f32x2"}, "xxxx",
            Wrap::template of<Packed<std::uint64_t, fma_f32<true, false>>::run>);
  add_mixed_fma<Wrap, F16>(table, rounding, ".f16");
  add_mixed_fma<Wrap, Bf16>(table, rounding, ".bf16");
  table.add({"div", rounding, ".f32"}, "www",
            Wrap::template of<Lanes<binary_f32<Div, false, false>>::run>);
  table.add({"div", rounding, ".ftz.f32"}, "www",
            Wrap::template of<Lanes<binary_f32<Div, true, false>>::run>);
  table.add({"div", rounding, ".f64"}, "xxx", Wrap::template of<Lanes<binary_f64<Div>>::run>);
  add_unary<Wrap, Sqrt>(table, "sqrt", rounding);
  add_unary<Wrap, Rcp>(table, "rcp", rounding);
}

}  // namespace
}  // namespace cudacore::simulator
