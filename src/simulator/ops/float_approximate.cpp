// SPDX-License-Identifier: Apache-2.0
//
// The .approx and .full forms. They are computed in double precision with the same operations on
// every processor, so that results don't depend on the processor, and are more accurate than PTX
// requires.
#include "simulator/ops/families.hpp"
#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {
namespace {

inline constexpr double round_magic = 0x1.8p52;  ///< adding it leaves an integer in the lowest bits
inline constexpr std::uint64_t f64_sign = std::uint64_t{1} << 63;

[[gnu::always_inline]] inline double magnitude(double x) noexcept {
  return bits_as<double>(bits_as<std::uint64_t>(x) & ~f64_sign);
}

/// The polynomial of x with the coefficients that follow, highest power first.
template <class... Lower>
[[gnu::always_inline]] inline double polynomial(double x, double highest, Lower... lower) noexcept {
  ((highest = highest * x + lower), ...);
  return highest;
}

/// 2^x; x is between -1000 and 1000, or NaN.
[[gnu::always_inline]] inline double exp2_core(double x) noexcept {
  const double shifted = x + round_magic;
  const double r = (x - (shifted - round_magic)) * 0x1.62e42fefa39efp-1;
  const double sum = polynomial(r, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0);
  const std::uint64_t power = (bits_as<std::uint64_t>(shifted) + 1023) << 52;
  return sum * bits_as<double>(power);
}

struct Exp2 {
  [[gnu::always_inline]] static float of(float a) noexcept {
    const double low = a < -200.0f ? -200.0 : a;
    const double x = low > 200.0 ? 200.0 : low;
    return static_cast<float>(exp2_core(x));
  }
};

struct Log2 {
  [[gnu::always_inline]] static float of(float a) noexcept {
    // The fraction is in [sqrt(1/2), sqrt(2)), so that its log2 is small.
    constexpr std::uint64_t root = 0x3fe6a09e667f3bcd;
    constexpr std::uint64_t bias = std::uint64_t{1024} << 52;
    const auto bits = bits_as<std::uint64_t>(double{a});
    const std::uint64_t exponent = (bits - root + bias) >> 52;
    const auto m = bits_as<double>(bits - ((exponent - 1024) << 52));
    const double k = bits_as<double>(exponent | 0x4330000000000000) - (0x1p52 + 1024);
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    const double sum =
        polynomial(z, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0);
    const auto number = static_cast<float>(k + sum * s * 0x1.71547652b82fep+1);
    const float infinity = bits_as<float>(0x7f800000u);
    const float finite = a < infinity ? number : a;
    const float positive = a > 0.0f ? finite : bits_as<float>(f32_nan);
    return a == 0.0f ? -infinity : positive;
  }
};

/// sin(x) if Quadrant is 0, cos(x) if it is 1. Numbers that are so large that they don't determine
/// an angle count as whole turns.
template <std::uint64_t Quadrant>
struct Turn {
  [[gnu::always_inline]] static float of(float a) noexcept {
    const bool great = magnitude(a) > 0x1p48;
    const double x = great ? (a > 0 ? 0.0 : -0.0) : double{a};
    const double shifted = x * 0x1.45f306dc9c883p-1 + round_magic;
    const double k = shifted - round_magic;
    const std::uint64_t quadrant = bits_as<std::uint64_t>(shifted) + Quadrant;
    const double r = (x - k * 0x1.921fb54400000p+0) - k * 0x1.0b4611a626331p-34;
    const double z = r * r;
    const double sine =
        r * polynomial(z, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0);
    const double cosine = polynomial(z, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
                                     1.0 / 24, -0.5, 1.0);
    const double value = (quadrant & 1) != 0 ? cosine : sine;
    const std::uint64_t flip = (quadrant & 2) << 62;
    const auto result = static_cast<float>(bits_as<double>(bits_as<std::uint64_t>(value) ^ flip));
    const bool finite = magnitude(a) < double{bits_as<float>(0x7f800000u)};
    return finite ? result : bits_as<float>(f32_nan);
  }
};

struct Tanh {
  [[gnu::always_inline]] static float of(float a) noexcept {
    const double size = magnitude(a);
    const double x = size > 20.0 ? 20.0 : size;
    const double wide = 1.0 - 2.0 / (exp2_core(x * 0x1.71547652b82fep+1) + 1.0);
    const double narrow = size - size * size * size * (1.0 / 3);
    const double result = size < 0x1p-13 ? narrow : wide;
    const std::uint64_t sign = bits_as<std::uint64_t>(double{a}) & f64_sign;
    return static_cast<float>(bits_as<double>(bits_as<std::uint64_t>(result) | sign));
  }
};

struct Reciprocal {
  [[gnu::always_inline]] static float of(float a) noexcept { return 1.0f / a; }
};
struct Root {
  [[gnu::always_inline]] static float of(float a) noexcept { return __builtin_sqrtf(a); }
};
struct ReciprocalRoot {
  [[gnu::always_inline]] static float of(float a) noexcept {
    return static_cast<float>(1.0 / __builtin_sqrt(double{a}));
  }
};

template <class Op, bool Ftz>
float approximate(float a) noexcept {
  return finish<Ftz, false>(Op::of(flush_if<Ftz>(a)));
}

template <class Op, class Half, bool Ftz>
std::uint16_t approximate_half(std::uint16_t a) noexcept {
  const std::uint16_t half = Half::narrow(Op::of(Half::widen(Ftz ? Half::flush(a) : a)));
  return Ftz ? Half::flush(half) : half;
}

template <bool Ftz>
float divide(float a, float b) noexcept {
  return finish<Ftz, false>(flush_if<Ftz>(a) / flush_if<Ftz>(b));
}

/// Divisors whose reciprocal would be subnormal count as infinite.
template <bool Ftz>
float divide_approximate(float a, float b) noexcept {
  const float x = flush_if<Ftz>(a);
  const float y = flush_if<Ftz>(b);
  const std::uint32_t bits = bits_as<std::uint32_t>(y);
  const std::uint32_t size = bits & 0x7fffffff;
  const bool great = size > 0x7e800000 && size < 0x7f800000;
  const float divisor = bits_as<float>(great ? (bits & 0x80000000) | 0x7f800000 : bits);
  return finish<Ftz, false>(x / divisor);
}

// Double precision in which only the upper half of the bits counts, even for NaN.
[[gnu::always_inline]] inline double flush_upper(double x) noexcept {
  const std::uint64_t bits = bits_as<std::uint64_t>(x) & 0xffffffff00000000;
  const bool small = (bits & 0x7ff0000000000000) == 0;
  return bits_as<double>(small ? bits & f64_sign : bits);
}
[[gnu::always_inline]] inline double finish_upper(double x) noexcept {
  const double result = flush_upper(x);
  return x == x ? result : bits_as<double>(std::uint64_t{0x7fffffff00000000});
}
double reciprocal_upper(double a) noexcept { return finish_upper(1.0 / flush_upper(a)); }
double reciprocal_root_upper(double a) noexcept {
  return finish_upper(1.0 / __builtin_sqrt(flush_upper(a)));
}
double reciprocal_root(double a) noexcept { return finish(1.0 / __builtin_sqrt(a), a); }

template <class Op>
void add_single(FormTable& table, const char* name) {
  table.add({name, ".approx.f32"}, "ww", Lanes<approximate<Op, false>>::run);
  table.add({name, ".approx.ftz.f32"}, "ww", Lanes<approximate<Op, true>>::run);
}
template <class Op, class Half, bool Ftz>
void add_half(FormTable& table, const char* name, const char* type) {
  constexpr auto* f = approximate_half<Op, Half, Ftz>;
  const char* ftz = Ftz ? ".ftz" : "";
  table.add({name, ".approx", ftz, type}, "hh", Lanes<f>::run);
  table.add({name, ".approx", ftz, type, "x2"}, "ww", Packed<std::uint32_t, f>::run);
}

}  // namespace

template <>
void add_float_approximate<this_isa>(FormTable& table) {
  add_single<Reciprocal>(table, "rcp");
  add_single<Root>(table, "sqrt");
  add_single<ReciprocalRoot>(table, "rsqrt");
  add_single<Turn<0>>(table, "sin");
  add_single<Turn<1>>(table, "cos");
  add_single<Log2>(table, "lg2");
  add_single<Exp2>(table, "ex2");
  table.add({"tanh.approx.f32"}, "ww", Lanes<approximate<Tanh, false>>::run);
  add_half<Tanh, F16, false>(table, "tanh", ".f16");
  add_half<Tanh, Bf16, false>(table, "tanh", ".bf16");
  add_half<Exp2, F16, false>(table, "ex2", ".f16");
  add_half<Exp2, Bf16, true>(table, "ex2", ".bf16");
  table.add({"div.full.f32"}, "www", Lanes<divide<false>>::run);
  table.add({"div.full.ftz.f32"}, "www", Lanes<divide<true>>::run);
  table.add({"div.approx.f32"}, "www", Lanes<divide_approximate<false>>::run);
  table.add({"div.approx.ftz.f32"}, "www", Lanes<divide_approximate<true>>::run);
  table.add({"rcp.approx.ftz.f64"}, "xx", Lanes<reciprocal_upper>::run);
  table.add({"rsqrt.approx.ftz.f64"}, "xx", Lanes<reciprocal_root_upper>::run);
  table.add({"rsqrt.approx.f64"}, "xx", Lanes<reciprocal_root>::run);
}

}  // namespace cudacore::simulator
