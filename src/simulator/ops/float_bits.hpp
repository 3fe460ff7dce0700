// SPDX-License-Identifier: Apache-2.0
//
// How a GPU's floating point goes beyond IEEE 754: its NaNs, .ftz, .sat, and rows of packed values.
#pragma once

#include <cstdint>

#include "simulator/ops/lanes.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

template <class To, class From>
[[gnu::always_inline]] constexpr To bits_as(From from) noexcept {
  return __builtin_bit_cast(To, from);
}

inline constexpr std::uint32_t f32_nan = 0x7fffffff;
inline constexpr std::uint64_t f64_nan = 0xfff8000000000000;
inline constexpr std::uint64_t f64_quiet = 0x0008000000000000;

/// The only NaN that single-precision arithmetic produces.
[[gnu::always_inline]] inline float canonical(float x) noexcept {
  return x == x ? x : bits_as<float>(f32_nan);
}

/// .ftz: subnormals become zeros of the same sign.
[[gnu::always_inline]] inline float flush(float x) noexcept {
  const auto bits = bits_as<std::uint32_t>(x);
  return bits_as<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
template <bool Ftz>
[[gnu::always_inline]] inline float flush_if(float x) noexcept {
  return Ftz ? flush(x) : x;
}

/// .sat: NaN, numbers below zero, and -0 become +0.
template <class T>
[[gnu::always_inline]] inline T saturate(T x) noexcept {
  const T low = x > T{0} ? x : T{0};
  return low < T{1} ? low : T{1};
}

/// If a result is the smallest normal number, whether it was less before rounding and is therefore
/// a zero with .ftz. The same operation with a scale of 2^24, so that nothing is lost, shows this.
/// If scaling overflows, results are never the smallest normal number.
[[gnu::always_inline]] inline float flush_tiny(float result, float scaled) noexcept {
  const auto bits = bits_as<std::uint32_t>(result);
  const auto scaled_bits = bits_as<std::uint32_t>(scaled) & 0x7fffffff;
  const bool tiny = (bits & 0x7fffffff) == 0x00800000 && scaled_bits < 0x0c800000;
  return bits_as<float>(tiny ? bits & 0x80000000 : bits);
}

/// The last step of single-precision arithmetic.
template <bool Ftz, bool Sat>
[[gnu::always_inline]] inline float finish(float x) noexcept {
  const float result = flush_if<Ftz>(x);
  return Sat ? saturate(result) : canonical(result);
}

[[gnu::always_inline]] inline double quiet(double x) noexcept {
  return bits_as<double>(bits_as<std::uint64_t>(x) | f64_quiet);
}

/// Double-precision arithmetic passes on an operand's NaN, made quiet: b's takes precedence, a's
/// comes last.
[[gnu::always_inline]] inline double finish(double x, double a) noexcept {
  const double nan = a != a ? quiet(a) : bits_as<double>(f64_nan);
  return x == x ? x : nan;
}
[[gnu::always_inline]] inline double finish(double x, double a, double b) noexcept {
  const double first = a != a ? quiet(a) : bits_as<double>(f64_nan);
  const double nan = b != b ? quiet(b) : first;
  return x == x ? x : nan;
}
[[gnu::always_inline]] inline double finish(double x, double a, double b, double c) noexcept {
  const double first = a != a ? quiet(a) : bits_as<double>(f64_nan);
  const double second = c != c ? quiet(c) : first;
  const double nan = b != b ? quiet(b) : second;
  return x == x ? x : nan;
}

/// Rows of type Row whose values are packed pairs: applies F to each value.
template <class Row, auto F>
struct Packed;

/// d = F(a)
template <class Row, class T, bool N, T (*F)(T) noexcept(N)>
struct Packed<Row, F> {
  static constexpr unsigned count = warp_size * sizeof(Row) / sizeof(T);
  static void run(Warp& warp, const Instruction& in) {
    const T* a = warp.row<T>(in.op[1]);
    write_row(
        warp.row<Row>(in.op[0]), warp.enabled(in), [&](Row * to) __attribute__((always_inline)) {
          T* d = reinterpret_cast<T*>(to);
#pragma GCC ivdep
          for (unsigned i = 0; i < count; ++i) d[i] = F(a[i]);
        });
  }
};

/// d = F(a, b)
template <class Row, class T, bool N, T (*F)(T, T) noexcept(N)>
struct Packed<Row, F> {
  static constexpr unsigned count = warp_size * sizeof(Row) / sizeof(T);
  static void run(Warp& warp, const Instruction& in) {
    const T* a = warp.row<T>(in.op[1]);
    const T* b = warp.row<T>(in.op[2]);
    write_row(
        warp.row<Row>(in.op[0]), warp.enabled(in), [&](Row * to) __attribute__((always_inline)) {
          T* d = reinterpret_cast<T*>(to);
#pragma GCC ivdep
          for (unsigned i = 0; i < count; ++i) d[i] = F(a[i], b[i]);
        });
  }
};

/// d = F(a, b, c)
template <class Row, class T, bool N, T (*F)(T, T, T) noexcept(N)>
struct Packed<Row, F> {
  static constexpr unsigned count = warp_size * sizeof(Row) / sizeof(T);
  static void run(Warp& warp, const Instruction& in) {
    const T* a = warp.row<T>(in.op[1]);
    const T* b = warp.row<T>(in.op[2]);
    const T* c = warp.row<T>(in.op[3]);
    write_row(
        warp.row<Row>(in.op[0]), warp.enabled(in), [&](Row * to) __attribute__((always_inline)) {
          T* d = reinterpret_cast<T*>(to);
#pragma GCC ivdep
          for (unsigned i = 0; i < count; ++i) d[i] = F(a[i], b[i], c[i]);
        });
  }
};

}  // namespace
}  // namespace cudacore::simulator
