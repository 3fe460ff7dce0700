// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 to and from single precision, in steps that vectorize without special processor
// instructions.
#pragma once

#include <cstdint>

#include "simulator/ops/float_bits.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

inline constexpr std::uint16_t half_nan = 0x7fff;  ///< for f16 and bf16

/// `x` is a value rounded to nearest. If rounding lost something, returns the neighbor of `x` whose
/// last bit is set. Rounding that once more gives the same as rounding the exact value.
[[gnu::always_inline]] inline float odd(float x, float error) noexcept {
  const auto bits = bits_as<std::uint32_t>(x);
  const bool away = (error > 0) == (x > 0);
  const bool adjust = error != 0 && (bits & 1) == 0;
  return bits_as<float>(adjust ? (away ? bits + 1 : bits - 1) : bits);
}
[[gnu::always_inline]] inline double odd(double x, double error) noexcept {
  const auto bits = bits_as<std::uint64_t>(x);
  const bool away = (error > 0) == (x > 0);
  const bool adjust = error != 0 && (bits & 1) == 0;
  return bits_as<double>(adjust ? (away ? bits + 1 : bits - 1) : bits);
}

/// a + b, rounded to odd. An infinite or NaN sum is left unchanged.
template <class T>
[[gnu::always_inline]] inline T odd_sum(T a, T b) noexcept {
  const T sum = a + b;
  const T b_part = sum - a;
  const T a_part = sum - b_part;
  const T error = (a - a_part) + (b - b_part);
  return error == error ? odd(sum, error) : sum;
}

/// Double to single precision, rounded to odd.
[[gnu::always_inline]] inline float odd_narrow(double x) noexcept {
  const auto near = static_cast<float>(x);
  const double back = near;
  const auto bits = bits_as<std::uint32_t>(near);
  const double magnitude = bits_as<double>(bits_as<std::uint64_t>(x) & ~(std::uint64_t{1} << 63));
  const double back_magnitude =
      bits_as<double>(bits_as<std::uint64_t>(back) & ~(std::uint64_t{1} << 63));
  const bool adjust = x == x && back != x && (bits & 1) == 0;
  return bits_as<float>(adjust ? (magnitude > back_magnitude ? bits + 1 : bits - 1) : bits);
}

struct F16 {
  static constexpr std::uint16_t one = 0x3c00;
  static constexpr std::uint16_t infinity = 0x7c00;
  /// In single precision, the smallest number that rounds to the smallest normal number, with 11
  /// bits and any exponent.
  static constexpr std::uint32_t least_kept = 0x387ff000;

  [[gnu::always_inline]] static float widen(std::uint16_t half) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
    const std::uint32_t magnitude = half & 0x7fff;
    const float scaled = bits_as<float>(magnitude << 13) * 0x1p112f;
    const std::uint32_t special = (magnitude << 13) | 0x7f800000;
    return bits_as<float>((magnitude >= 0x7c00 ? special : bits_as<std::uint32_t>(scaled)) | sign);
  }
  [[gnu::always_inline]] static std::uint16_t narrow(float x) noexcept {
    const auto bits = bits_as<std::uint32_t>(x);
    const std::uint32_t sign = (bits >> 16) & 0x8000;
    const std::uint32_t magnitude = bits & 0x7fffffff;
    // The sum's lowest bits are those of f16's subnormals.
    const float aligned = bits_as<float>(magnitude) + 0.5f;
    const std::uint32_t subnormal = bits_as<std::uint32_t>(aligned) - 0x3f000000;
    const std::uint32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    const std::uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    const std::uint32_t number = magnitude >= 0x477ff000 ? 0x7c00 : finite;
    return static_cast<std::uint16_t>(magnitude > 0x7f800000 ? half_nan : number | sign);
  }
  [[gnu::always_inline]] static std::uint16_t flush(std::uint16_t half) noexcept {
    return static_cast<std::uint16_t>((half & 0x7c00) == 0 ? half & 0x8000 : half);
  }
  [[gnu::always_inline]] static float add(float a, float b) noexcept { return a + b; }
  [[gnu::always_inline]] static float multiply(float a, float b) noexcept { return a * b; }
  /// Products of f16 are exact in single precision, and so are the parts of the sum.
  [[gnu::always_inline]] static float fma(float a, float b, float c) noexcept {
    return odd_sum(a * b, c);
  }
};

struct Bf16 {
  static constexpr std::uint16_t one = 0x3f80;
  static constexpr std::uint16_t infinity = 0x7f80;

  [[gnu::always_inline]] static float widen(std::uint16_t half) noexcept {
    return bits_as<float>(static_cast<std::uint32_t>(half) << 16);
  }
  [[gnu::always_inline]] static std::uint16_t narrow(float x) noexcept {
    const auto bits = bits_as<std::uint32_t>(x);
    const std::uint32_t number = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return static_cast<std::uint16_t>(x == x ? number : half_nan);
  }
  [[gnu::always_inline]] static std::uint16_t flush(std::uint16_t half) noexcept {
    return static_cast<std::uint16_t>((half & 0x7f80) == 0 ? half & 0x8000 : half);
  }
  [[gnu::always_inline]] static float add(float a, float b) noexcept { return a + b; }
  /// The exponent range of single precision is too narrow for the products.
  [[gnu::always_inline]] static float multiply(float a, float b) noexcept {
    return odd_narrow(double{a} * double{b});
  }
  [[gnu::always_inline]] static float fma(float a, float b, float c) noexcept {
    return odd_narrow(odd_sum(double{a} * double{b}, double{c}));
  }
};

}  // namespace
}  // namespace cudacore::simulator
