// SPDX-License-Identifier: Apache-2.0
//
// Converts any narrow floating-point format to and from double precision, which holds the values of
// all of them, in any rounding direction.
#pragma once

#include <cstdint>

#include "simulator/ops/float_bits.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

enum class Direction : std::uint8_t {
  nearest,  ///< ties to even
  zero,
  down,
  up,
  away,    ///< to nearest, ties away from zero
  random,  ///< up if the given random bits carry
};

struct Format {
  unsigned mantissa_bits;
  int bias;
  std::uint32_t sign;      ///< 0: the format has no sign, and a value's sign is dropped
  std::uint32_t greatest;  ///< finite
  std::uint32_t beyond;    ///< infinity, or what represents it
  std::uint32_t nan;
};

inline constexpr Format f16_format{10, 15, 0x8000, 0x7bff, 0x7c00, 0x7fff};
inline constexpr Format bf16_format{7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fff};
inline constexpr Format e4m3_format{3, 7, 0x80, 0x7e, 0x7f, 0x7f};
inline constexpr Format e5m2_format{2, 15, 0x80, 0x7b, 0x7c, 0x7f};
inline constexpr Format e2m3_format{3, 1, 0x20, 0x1f, 0x1f, 0x1f};
inline constexpr Format e3m2_format{2, 3, 0x20, 0x1f, 0x1f, 0x1f};
inline constexpr Format e2m1_format{1, 1, 0x8, 0x7, 0x7, 0x7};
inline constexpr Format ue5m3_format{3, 15, 0, 0xfe, 0xff, 0xff};
/// Its values are those of single precision, with fewer bits.
inline constexpr Format tf32_format{10, 127, 0x40000, 0x3fbff, 0x3fc00, 0x3ffff};

/// How a value is made to fit.
struct Fit {
  Direction direction = Direction::nearest;
  bool finite = false;  ///< .satfinite
  bool relu = false;
  unsigned random_bits = 0;  ///< for Direction::random
  bool payload = false;      ///< a NaN keeps its sign and the first of its bits
};

[[gnu::noinline, maybe_unused]] std::uint32_t encode(double value, const Format& format,
                                                     const Fit& fit,
                                                     std::uint32_t random = 0) noexcept {
  const auto bits = bits_as<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const bool below = format.sign != 0 && magnitude != bits;
  constexpr std::uint64_t infinity = 0x7ff0000000000000;
  if (magnitude > infinity) {
    if (!fit.payload) return format.nan;
    const auto first = static_cast<std::uint32_t>(magnitude >> (52 - format.mantissa_bits));
    const std::uint32_t quiet_bit = 1u << (format.mantissa_bits - 1);
    return (below ? format.sign : 0) | format.beyond | quiet_bit |
           (first & ((1u << format.mantissa_bits) - 1));
  }
  if (fit.relu && below) return 0;
  const std::uint32_t sign = below ? format.sign : 0;
  const auto signed_bits = [sign](std::uint32_t number) { return number | sign; };
  if (magnitude == infinity) return signed_bits(fit.finite ? format.greatest : format.beyond);

  const int least = 1 - format.bias;  // exponent of the smallest normal number
  const bool normal = magnitude >> 52 != 0;
  const int exponent = (normal ? static_cast<int>(magnitude >> 52) : 1) - 1023;
  const std::uint64_t fraction =
      (magnitude & 0xfffffffffffff) | (normal ? std::uint64_t{1} << 52 : 0);
  const unsigned below_least = exponent < least ? static_cast<unsigned>(least - exponent) : 0;
  const unsigned shift = 52 - format.mantissa_bits + below_least;
  // The dropped part, as a fraction of 2^64.
  const std::uint64_t kept = shift < 64 ? fraction >> shift : 0;
  const std::uint64_t rest = shift < 64    ? fraction << (64 - shift)
                             : shift < 117 ? (fraction >> (shift - 64)) | 1
                                           : 1;
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  const bool inexact = magnitude != 0 && rest != 0;
  bool up = false;
  switch (fit.direction) {
    case Direction::nearest:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case Direction::zero:
      break;
    case Direction::down:
      up = inexact && below;
      break;
    case Direction::up:
      up = inexact && !below;
      break;
    case Direction::away:
      up = rest >= half;
      break;
    case Direction::random: {
      const std::uint64_t drawn = std::uint64_t{random} << (64 - fit.random_bits);
      up = rest + drawn < rest;
      break;
    }
  }
  const std::uint64_t binade = exponent > least ? static_cast<std::uint64_t>(exponent - least) : 0;
  const std::uint64_t number = magnitude == 0 ? 0 : (binade << format.mantissa_bits) + kept + up;
  if (number <= format.greatest) return signed_bits(static_cast<std::uint32_t>(number));
  // Rounding towards zero stops at the largest finite number.
  const bool stops = fit.direction == Direction::zero ||
                     (fit.direction == Direction::down && !below) ||
                     (fit.direction == Direction::up && below);
  return signed_bits(fit.finite || stops ? format.greatest : format.beyond);
}

/// The value of a format's bits; infinities are recognized because they exceed the largest finite
/// number.
[[gnu::noinline, maybe_unused]] double decode(std::uint32_t bits, const Format& format) noexcept {
  const std::uint32_t magnitude = format.sign != 0 ? bits & (format.sign - 1) : bits;
  const std::uint64_t sign = (bits & format.sign) != 0 ? std::uint64_t{1} << 63 : 0;
  if (magnitude > format.greatest) {
    const bool infinite = format.beyond != format.nan && magnitude == format.beyond;
    return bits_as<double>(infinite ? 0x7ff0000000000000 | sign : 0x7fffffffffffffff);
  }
  const std::uint32_t exponent = magnitude >> format.mantissa_bits;
  const std::uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const std::uint32_t fraction = exponent != 0 ? mantissa | (1u << format.mantissa_bits) : mantissa;
  const int scale = static_cast<int>(exponent != 0 ? exponent : 1) - format.bias -
                    static_cast<int>(format.mantissa_bits);
  const auto power = bits_as<double>(static_cast<std::uint64_t>(scale + 1023) << 52);
  const double value = static_cast<double>(fraction) * power;
  return bits_as<double>(bits_as<std::uint64_t>(value) | sign);
}

}  // namespace
}  // namespace cudacore::simulator
