// SPDX-License-Identifier: Apache-2.0
//
// Single- and double-precision arithmetic, rounded to nearest or without rounding.
#include "simulator/ops/families.hpp"
#include "simulator/ops/float_lanes.hpp"

namespace cudacore::simulator {
namespace {

inline float magnitude(float a) noexcept {
  return bits_as<float>(bits_as<std::uint32_t>(a) & 0x7fffffff);
}

template <bool Ftz>
float negate_f32(float a) noexcept {
  return canonical(bits_as<float>(bits_as<std::uint32_t>(flush_if<Ftz>(a)) ^ 0x80000000));
}
template <bool Ftz>
float absolute_f32(float a) noexcept {
  return canonical(magnitude(flush_if<Ftz>(a)));
}
inline constexpr std::uint64_t f64_sign = std::uint64_t{1} << 63;
double negate_f64(double a) noexcept {
  return finish(bits_as<double>(bits_as<std::uint64_t>(a) ^ f64_sign), a);
}
double absolute_f64(double a) noexcept {
  return finish(bits_as<double>(bits_as<std::uint64_t>(a) & ~f64_sign), a);
}

/// The result has the sign of a, and everything else from b.
template <class T>
T copysign_bits(T a, T b) noexcept {
  constexpr T sign = T{1} << (8 * sizeof(T) - 1);
  return (a & sign) | (b & ~sign);
}

/// Integers in the order of a format's values, with -0 below +0.
template <class Whole>
[[gnu::always_inline]] inline Whole rank(Whole bits) noexcept {
  constexpr Whole size = static_cast<Whole>(~(Whole{1} << (8 * sizeof(Whole) - 1)));
  return bits < 0 ? bits ^ size : bits;
}

/// The lesser or greater of two numbers. For a number and a NaN, the number; for two NaNs, the
/// second. Uses only integers, because that vectorizes best.
template <bool Max, class Whole, Whole Infinity>
[[gnu::always_inline]] inline Whole pick(Whole a, Whole b) noexcept {
  constexpr Whole size = static_cast<Whole>(~(Whole{1} << (8 * sizeof(Whole) - 1)));
  const Whole x = rank(a);
  const Whole y = rank(b);
  const Whole number = (Max ? x > y : x < y) ? a : b;
  const Whole other = (b & size) > Infinity ? a : number;
  return (a & size) > Infinity ? b : other;
}
template <bool Max>
[[gnu::always_inline]] inline std::int32_t pick_f32(std::int32_t a, std::int32_t b) noexcept {
  return pick<Max, std::int32_t, 0x7f800000>(a, b);
}

template <bool Max, bool Ftz, bool Nan, bool Xorsign>
float select_f32(float a, float b) noexcept {
  const auto x = bits_as<std::int32_t>(flush_if<Ftz>(a));
  const auto y = bits_as<std::int32_t>(flush_if<Ftz>(b));
  const std::int32_t x_size = x & 0x7fffffff;
  const std::int32_t y_size = y & 0x7fffffff;
  constexpr std::int32_t infinity = 0x7f800000;
  const std::int32_t sign = Xorsign ? (x ^ y) & ~0x7fffffff : 0;
  const std::int32_t picked = Xorsign ? pick_f32<Max>(x_size, y_size) : pick_f32<Max>(x, y);
  const bool x_is_nan = x_size > infinity;
  const bool y_is_nan = y_size > infinity;
  const bool nan = Nan ? x_is_nan | y_is_nan : x_is_nan & y_is_nan;
  return bits_as<float>(nan ? 0x7fffffff : picked | sign);
}

template <bool Max, bool Ftz, bool Nan, bool Abs>
float select3_f32(float a, float b, float c) noexcept {
  const float x = Abs ? magnitude(a) : a;
  const float y = Abs ? magnitude(b) : b;
  const float z = Abs ? magnitude(c) : c;
  return select_f32<Max, Ftz, Nan, false>(select_f32<Max, Ftz, Nan, false>(x, y), z);
}

template <bool Max>
double select_f64(double a, double b) noexcept {
  const double picked = bits_as<double>(pick<Max, std::int64_t, 0x7ff0000000000000>(
      bits_as<std::int64_t>(a), bits_as<std::int64_t>(b)));
  return picked == picked ? picked : quiet(picked);
}

template <bool Max, bool Ftz, bool Nan>
void add_select_f32(FormTable& table, const char* name, const char* ftz, const char* nan) {
  table.add({name, ftz, nan, ".f32"}, "www", Lanes<select_f32<Max, Ftz, Nan, false>>::run);
  table.add({name, ftz, nan, ".xorsign.abs.f32"}, "www",
            Lanes<select_f32<Max, Ftz, Nan, true>>::run);
  table.add({name, ftz, nan, ".f32"}, "wwww", Lanes<select3_f32<Max, Ftz, Nan, false>>::run);
  table.add({name, ftz, nan, ".abs.f32"}, "wwww", Lanes<select3_f32<Max, Ftz, Nan, true>>::run);
}

template <bool Max>
void add_select(FormTable& table, const char* name) {
  add_select_f32<Max, false, false>(table, name, "", "");
  add_select_f32<Max, true, false>(table, name, ".ftz", "");
  add_select_f32<Max, false, true>(table, name, "", ".NaN");
  add_select_f32<Max, true, true>(table, name, ".ftz", ".NaN");
  table.add({name, ".f64"}, "xxx", Lanes<select_f64<Max>>::run);
}

/// Zeros are normal.
enum class Test : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <Test Which, class Bits, Bits Infinity, Bits LeastNormal>
bool test_bits(Bits bits) noexcept {
  const Bits magnitude = bits & static_cast<Bits>(~(Bits{1} << (8 * sizeof(Bits) - 1)));
  switch (Which) {
    case Test::finite:
      return magnitude < Infinity;
    case Test::infinite:
      return magnitude == Infinity;
    case Test::number:
      return magnitude <= Infinity;
    case Test::notanumber:
      return magnitude > Infinity;
    case Test::normal:
      return magnitude == 0 || (magnitude >= LeastNormal && magnitude < Infinity);
    case Test::subnormal:
      return magnitude != 0 && magnitude < LeastNormal;
  }
}

template <class Bits, bool (*F)(Bits)>
void test_row(Warp& warp, const Instruction& in) {
  const Bits* a = warp.row<Bits>(in.op[1]);
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < warp_size; ++i) mask |= F(a[i]) ? lane_bit[i] : 0;
  warp.set_mask(in.op[0], warp.enabled(in), mask);
}

template <Test Which>
void add_test(FormTable& table, const char* name) {
  table.add({"testp.", name, ".f32"}, "pw",
            test_row<std::uint32_t, test_bits<Which, std::uint32_t, 0x7f800000u, 0x00800000u>>);
  table.add({"testp.", name, ".f64"}, "px",
            test_row<std::uint64_t,
                     test_bits<Which, std::uint64_t, 0x7ff0000000000000u, 0x0010000000000000u>>);
}

}  // namespace

template <>
void add_float_arithmetic<this_isa>(FormTable& table) {
  add_sums_and_products<Plain>(table, "");
  add_sums_and_products<Plain>(table, ".rn");
  add_rounded_only<Plain>(table, ".rn");
  table.add({"neg.f32"}, "ww", Lanes<negate_f32<false>>::run);
  table.add({"neg.ftz.f32"}, "ww", Lanes<negate_f32<true>>::run);
  table.add({"neg.f64"}, "xx", Lanes<negate_f64>::run);
  table.add({"abs.f32"}, "ww", Lanes<absolute_f32<false>>::run);
  table.add({"abs.ftz.f32"}, "ww", Lanes<absolute_f32<true>>::run);
  table.add({"abs.f64"}, "xx", Lanes<absolute_f64>::run);
  table.add({"copysign.f32"}, "www", Lanes<copysign_bits<std::uint32_t>>::run);
  table.add({"copysign.f64"}, "xxx", Lanes<copysign_bits<std::uint64_t>>::run);
  add_select<false>(table, "min");
  add_select<true>(table, "max");
  add_test<Test::finite>(table, "finite");
  add_test<Test::infinite>(table, "infinite");
  add_test<Test::number>(table, "number");
  add_test<Test::notanumber>(table, "notanumber");
  add_test<Test::normal>(table, "normal");
  add_test<Test::subnormal>(table, "subnormal");
}

}  // namespace cudacore::simulator
