// SPDX-License-Identifier: Apache-2.0
//
// Conversions between floating-point numbers and integers. The ones that are common in programs are
// functions of a lane. The others convert through a row in double precision, which holds every
// value of all types except 64-bit integers.
#pragma once

#include <cstdint>

#include "simulator/ops/float_encode.hpp"
#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/rounding_scope.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

// Types of operands: a row's type, and how its values become double precision.
template <class T>
struct Whole {
  using Row = T;
  static constexpr bool whole = true;
  static double widen(T value) noexcept { return static_cast<double>(value); }
};
template <bool Ftz>
struct Single {
  using Row = float;
  static constexpr bool whole = false;
  static constexpr bool ftz = Ftz;
  static double widen(float value) noexcept { return flush_if<Ftz>(value); }
};
struct Double {
  using Row = double;
  static constexpr bool whole = false;
  static double widen(double value) noexcept { return value; }
};
template <class Format>
struct Half {
  using Row = std::uint16_t;
  using Bits = Format;
  static constexpr bool whole = false;
  static double widen(std::uint16_t bits) noexcept { return Format::widen(bits); }
};
using Wide = double[warp_size];
template <class Type>
constexpr bool is_bf16 = false;
template <>
constexpr bool is_bf16<Half<Bf16>> = true;

template <class Type>
[[gnu::noinline]] void load(const typename Type::Row* row, Wide& wide) noexcept {
  for (unsigned i = 0; i < warp_size; ++i) wide[i] = Type::widen(row[i]);
}

/// If a 64-bit integer has more bits than a double, sets the last bit of the result: a later
/// rounding to half precision then gives the same as rounding the integer itself.
template <class T>
[[gnu::noinline]] void load_odd(const T* row, Wide& wide) noexcept {
  for (unsigned i = 0; i < warp_size; ++i) {
    const bool negative = row[i] < 0;
    const std::uint64_t bits = static_cast<std::uint64_t>(row[i]);
    const std::uint64_t size = negative ? 0 - bits : bits;
    const std::uint64_t sticky = (size & 0x7ff) != 0 ? 1 : 0;
    const std::uint64_t short_size = size >> 53 != 0 ? ((size >> 11) | sticky) << 11 : size;
    const auto value = static_cast<double>(short_size);
    wide[i] = negative ? -value : value;
  }
}

// Rounding to integers.
enum class Integral : std::uint8_t { none, rni, rzi, rmi, rpi };

/// Magnitudes below `limit` may have a fraction; adding and subtracting it rounds the fraction
/// away.
template <Integral How, class T, class Bits>
[[gnu::always_inline]] inline T integral(T x, T limit) noexcept {
  if constexpr (How == Integral::none) {
    return x;
  } else {
    constexpr Bits sign_bit = Bits{1} << (8 * sizeof(Bits) - 1);
    const Bits sign = bits_as<Bits>(x) & sign_bit;
    const T size = bits_as<T>(bits_as<Bits>(x) & ~sign_bit);
    const T near = (size + limit) - limit;
    const T one{1};
    const T zero{0};
    // For the magnitude of a positive number, down means towards zero.
    const bool lower = How == Integral::rzi || (How == Integral::rmi && sign == 0) ||
                       (How == Integral::rpi && sign != 0);
    const bool higher = How != Integral::rni && !lower;
    const T down = near - (lower && near > size ? one : zero);
    const T result = down + (higher && near < size ? one : zero);
    const T whole = size < limit ? result : size;
    return bits_as<T>(bits_as<Bits>(whole) | sign);
  }
}
template <Integral How>
[[gnu::always_inline]] inline float integral(float x) noexcept {
  return integral<How, float, std::uint32_t>(x, 0x1p23f);
}
template <Integral How>
[[gnu::always_inline]] inline double integral(double x) noexcept {
  return integral<How, double, std::uint64_t>(x, 0x1p52);
}

template <Integral How>
[[gnu::noinline]] void make_integral(Wide& wide) noexcept {
  for (unsigned i = 0; i < warp_size; ++i) wide[i] = integral<How>(wide[i]);
}
[[gnu::noinline]] void saturate_row(Wide& wide) noexcept {
  for (unsigned i = 0; i < warp_size; ++i) wide[i] = saturate(wide[i]);
}

// Storing.
template <class T, T Least, T Most, class From>
[[gnu::always_inline]] inline T clamp(From x, T of_nan) noexcept {
  // The bounds themselves may not be values of From, but their outer neighbors are.
  constexpr From low = static_cast<From>(Least);
  constexpr From high = static_cast<From>(Most / 2 + 1) * 2;
  const bool fits = x >= low && x < high;
  const T inside = static_cast<T>(fits ? x : From{0});
  const T number = x >= high ? Most : (x < low ? Least : inside);
  return x == x ? number : of_nan;
}

template <class T>
struct Limits {
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr unsigned bits = 8 * sizeof(T);
  static constexpr T most =
      static_cast<T>(is_signed ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0});
  static constexpr T least = static_cast<T>(is_signed ? std::uint64_t{1} << (bits - 1) : 0);
  static constexpr T top_bit = static_cast<T>(std::uint64_t{1} << (bits - 1));
};

template <class T, bool TopBit>
[[gnu::noinline]] void store_whole(Warp& warp, const Instruction& in, const Wide& wide) noexcept {
  write_row(
      warp.row<T>(in.op[0]), warp.enabled(in), [&](T * d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) {
          d[i] = clamp<T, Limits<T>::least, Limits<T>::most>(wide[i],
                                                             TopBit ? Limits<T>::top_bit : T{0});
        }
      });
}
[[gnu::noinline]] void store_double(Warp& warp, const Instruction& in, const Wide& wide) noexcept {
  write_row(
      warp.row<double>(in.op[0]), warp.enabled(in), [&](double* d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) d[i] = finish(wide[i], wide[i]);
      });
}
template <bool Ftz>
[[gnu::always_inline]] inline float narrow(double x) noexcept {
  const auto result = static_cast<float>(x);
  if constexpr (!Ftz) return result;
  return flush(flush_tiny(result, static_cast<float>(x * 0x1p24)));
}
template <bool Ftz>
[[gnu::noinline]] void store_single(Warp& warp, const Instruction& in, const Wide& wide) noexcept {
  write_row(
      warp.row<float>(in.op[0]), warp.enabled(in), [&](float* d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) d[i] = narrow<Ftz>(wide[i]);
      });
}
template <class Format>
[[gnu::noinline]] void store_half(Warp& warp, const Instruction& in, const Wide& wide) noexcept {
  write_row(
      warp.row<std::uint16_t>(in.op[0]),
      warp.enabled(in), [&](std::uint16_t * d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) d[i] = Format::narrow(odd_narrow(wide[i]));
      });
}
[[gnu::noinline]] void store_half(Warp& warp, const Instruction& in, const Wide& wide,
                                  const Format& format, Fit fit) noexcept {
  write_row(
      warp.row<std::uint16_t>(in.op[0]),
      warp.enabled(in), [&](std::uint16_t * d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) {
          d[i] = static_cast<std::uint16_t>(encode(wide[i], format, fit));
        }
      });
}

constexpr Rounding rounding_of(Direction direction) noexcept {
  switch (direction) {
    case Direction::zero:
      return Rounding::rz;
    case Direction::down:
      return Rounding::rm;
    case Direction::up:
      return Rounding::rp;
    default:
      return Rounding::rn;
  }
}

template <Direction Way, bool Payload, bool Ftz>
[[gnu::always_inline]] inline void store(Single<Ftz>, Warp& warp, const Instruction& in,
                                         const Wide& wide) noexcept {
  if constexpr (Way == Direction::nearest) {
    store_single<Ftz>(warp, in, wide);
  } else {
    const RoundingScope scope(rounding_of(Way));
    opaque(store_single<Ftz>)(warp, in, wide);
  }
}
template <Direction Way, bool Payload>
[[gnu::always_inline]] inline void store(Double, Warp& warp, const Instruction& in,
                                         const Wide& wide) noexcept {
  store_double(warp, in, wide);
}
template <Direction Way, bool Payload>
[[gnu::always_inline]] inline void store(Half<F16>, Warp& warp, const Instruction& in,
                                         const Wide& wide) noexcept {
  if constexpr (Way == Direction::nearest && !Payload) {
    store_half<F16>(warp, in, wide);
  } else {
    store_half(warp, in, wide, f16_format, {.direction = Way, .payload = Payload});
  }
}
template <Direction Way, bool Payload>
[[gnu::always_inline]] inline void store(Half<Bf16>, Warp& warp, const Instruction& in,
                                         const Wide& wide) noexcept {
  if constexpr (Way == Direction::nearest && !Payload) {
    store_half<Bf16>(warp, in, wide);
  } else {
    store_half(warp, in, wide, bf16_format, {.direction = Way, .payload = Payload});
  }
}

// Handlers that convert through double precision.
template <class D, class S, Direction Way, Integral How, bool Sat>
void float_to_float(Warp& warp, const Instruction& in) {
  alignas(64) Wide wide;
  load<S>(warp.row<typename S::Row>(in.op[1]), wide);
  if constexpr (How != Integral::none) make_integral<How>(wide);
  if constexpr (Sat) saturate_row(wide);
  // Only NaNs of double precision are passed on.
  store<Way, sizeof(typename S::Row) == 8>(D{}, warp, in, wide);
}

/// NaN becomes zero, except if either type has 64 bits: then it becomes the result's top bit.
template <class T, class S, Integral How>
void float_to_whole(Warp& warp, const Instruction& in) {
  constexpr bool top_bit = sizeof(T) == 8 || sizeof(typename S::Row) == 8;
  alignas(64) Wide wide;
  load<S>(warp.row<typename S::Row>(in.op[1]), wide);
  if constexpr (How != Integral::rzi) make_integral<How>(wide);
  store_whole<T, top_bit>(warp, in, wide);
}

/// To half precision.
template <class D, class T, Direction Way, bool Sat>
void whole_to_half(Warp& warp, const Instruction& in) {
  alignas(64) Wide wide;
  load_odd<T>(warp.row<T>(in.op[1]), wide);
  if constexpr (Sat) saturate_row(wide);
  store<Way, false>(D{}, warp, in, wide);
}

// Separate handlers.
template <class T, Integral How, bool Ftz>
T direct_to_whole(float a) noexcept {
  // The processor's conversion truncates.
  const float x = How == Integral::rzi ? flush_if<Ftz>(a) : integral<How>(flush_if<Ftz>(a));
  return clamp<T, Limits<T>::least, Limits<T>::most>(x, T{0});
}
/// For an integer. Compilers may convert it in a way that gives -0 when rounding down.
template <class D, class T, bool Sat>
D direct_cast(T a) noexcept {
  if constexpr (Sat) return a > 0 ? D{1} : D{0};
  const auto result = static_cast<D>(a);
  return a == 0 ? D{0} : result;
}
template <bool Ftz>
double direct_widen(float a) noexcept {
  return Ftz ? finish<true, false>(a) : a;
}
template <bool Ftz>
float direct_narrow(double a) noexcept {
  return narrow<Ftz>(a);
}
template <class Format, bool Ftz>
std::uint16_t direct_to_half(float a) noexcept {
  return Format::narrow(flush_if<Ftz>(a));
}
float direct_of_f16(std::uint16_t a) noexcept { return canonical(F16::widen(a)); }
/// Without .ftz the bits are just moved, even those of NaNs.
template <bool Ftz>
std::uint32_t direct_of_bf16(std::uint16_t a) noexcept {
  const std::uint32_t bits = static_cast<std::uint32_t>(a) << 16;
  return Ftz ? bits_as<std::uint32_t>(finish<true, false>(bits_as<float>(bits))) : bits;
}
/// Without rounding and modifiers.
template <class Row>
Row direct_move(Row a) noexcept {
  return a;
}
template <Integral How, bool Ftz, bool Sat>
float direct_integral(float a) noexcept {
  return finish<Ftz, Sat>(integral<How>(flush_if<Ftz>(a)));
}

}  // namespace
}  // namespace cudacore::simulator
