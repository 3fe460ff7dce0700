// SPDX-License-Identifier: Apache-2.0
//
// Floating-point instructions, computed with exact integer arithmetic and one rounding at the end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace cudacore::simulator::testing {

__extension__ using Exact = unsigned __int128;

/// A binary format. `top` is the bits of the largest finite number; above it are infinity (if there
/// is one) and NaN.
struct FloatKind {
  std::string_view name;
  unsigned bits = 0;
  unsigned mantissa = 0;
  int bias = 0;
  std::uint64_t top = 0;
  bool infinite = true;
  std::uint64_t nan = 0;
  bool is_signed = true;

  [[nodiscard]] std::uint64_t sign() const {
    return is_signed ? std::uint64_t{1} << (bits - 1) : 0;
  }
  [[nodiscard]] std::uint64_t infinity() const { return infinite ? top + 1 : nan; }
};

inline constexpr FloatKind float_kinds[] = {
    {"f32", 32, 23, 127, 0x7f7fffff, true, 0x7fffffff},
    {"f64", 64, 52, 1023, 0x7fefffffffffffff, true, 0xfff8000000000000},
    {"f16", 16, 10, 15, 0x7bff, true, 0x7fff},
    {"bf16", 16, 7, 127, 0x7f7f, true, 0x7fff},
    {"tf32", 19, 10, 127, 0x3fbff, true, 0x3ffff},
    {"e4m3", 8, 3, 7, 0x7e, false, 0x7f},
    {"e5m2", 8, 2, 15, 0x7b, true, 0x7f},
    {"e2m3", 6, 3, 1, 0x1f, false, 0x1f},
    {"e3m2", 6, 2, 3, 0x1f, false, 0x1f},
    {"e2m1", 4, 1, 1, 0x7, false, 0x7},
    {"ue5m3", 8, 3, 15, 0xfe, false, 0xff, false},
};
inline const FloatKind* float_kind(std::string_view name) {
  for (const FloatKind& kind : float_kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

/// A number: magnitude * 2^exponent, and slightly more if `sticky`.
struct Number {
  enum class Class : std::uint8_t { finite, infinite, nan };
  Class what = Class::finite;
  bool negative = false;
  Exact magnitude = 0;
  int exponent = 0;
  bool sticky = false;

  [[nodiscard]] bool is_nan() const { return what == Class::nan; }
  [[nodiscard]] bool is_infinite() const { return what == Class::infinite; }
  [[nodiscard]] bool is_zero() const { return what == Class::finite && magnitude == 0 && !sticky; }
};
inline constexpr Number not_a_number{Number::Class::nan, false, 0, 0, false};

inline Number unpack(std::uint64_t bits, const FloatKind& kind, bool flush = false) {
  Number number;
  number.negative = (bits & kind.sign()) != 0;
  const std::uint64_t size = kind.is_signed ? bits & (kind.sign() - 1) : bits;
  const bool all_finite = !kind.infinite && kind.top == kind.nan;
  if (size > kind.top && !all_finite) {
    const bool infinite = kind.infinite && size == kind.top + 1;
    number.what = infinite ? Number::Class::infinite : Number::Class::nan;
    return number;
  }
  const std::uint64_t field = size >> kind.mantissa;
  const std::uint64_t fraction = size & ((std::uint64_t{1} << kind.mantissa) - 1);
  number.magnitude = field != 0 ? fraction | (std::uint64_t{1} << kind.mantissa) : fraction;
  if (field == 0 && flush) number.magnitude = 0;
  number.exponent =
      (field != 0 ? static_cast<int>(field) : 1) - kind.bias - static_cast<int>(kind.mantissa);
  return number;
}

enum class Toward : std::uint8_t { even, zero, down, up, away };

inline int width_of(Exact value) {
  int width = 0;
  for (; value != 0; value >>= 1) ++width;
  return width;
}

/// The multiple of 2^lowest closest to a finite number.
inline Exact round_at(const Number& number, int lowest, Toward toward) {
  const int shift = lowest - number.exponent;
  if (shift <= 0) return number.magnitude << -shift;
  const Exact kept = shift < 128 ? number.magnitude >> shift : 0;
  const Exact rest = shift < 128 ? number.magnitude - (kept << shift) : number.magnitude;
  const bool inexact = rest != 0 || number.sticky;
  const Exact half = shift <= 128 ? Exact{1} << (shift - 1) : 0;  // beyond that, nothing is a half
  const bool above = half != 0 && (rest > half || (rest == half && number.sticky));
  const bool tie = half != 0 && rest == half && !number.sticky;
  switch (toward) {
    case Toward::even:
      return kept + (above || (tie && (kept & 1) != 0) ? 1 : 0);
    case Toward::zero:
      return kept;
    case Toward::down:
      return kept + (inexact && number.negative ? 1 : 0);
    case Toward::up:
      return kept + (inexact && !number.negative ? 1 : 0);
    case Toward::away:
      return kept + (above || tie ? 1 : 0);
  }
  return kept;
}

struct Ending {
  Toward toward = Toward::even;
  bool flush = false;
  bool saturate = false;
  bool relu = false;
  bool finite = false;
};

inline std::uint64_t pack(Number number, const FloatKind& kind, const Ending& end) {
  if (number.is_nan()) return end.saturate ? 0 : kind.nan;
  if (!kind.is_signed) number.negative = false;
  if ((end.saturate || end.relu) && number.negative) return 0;
  const std::uint64_t sign = number.negative ? kind.sign() : 0;
  std::uint64_t size = 0;
  if (number.is_infinite()) {
    size = end.finite ? kind.top : kind.infinity();
  } else if (!number.is_zero()) {
    const int lead = number.exponent + width_of(number.magnitude) - 1;
    const int precise = lead - static_cast<int>(kind.mantissa);
    const int least = 1 - kind.bias - static_cast<int>(kind.mantissa);
    const bool tiny = width_of(round_at(number, precise, end.toward)) + precise <= 1 - kind.bias;
    const int lowest = precise > least ? precise : least;
    const Exact kept = round_at(number, lowest, end.toward);
    size = static_cast<std::uint64_t>(kept) +
           (static_cast<std::uint64_t>(lowest - least) << kind.mantissa);
    if (end.flush && tiny) size = 0;
    if (size > kind.top) {
      const bool stops = end.finite || end.toward == Toward::zero ||
                         (end.toward == Toward::down && !number.negative) ||
                         (end.toward == Toward::up && number.negative);
      size = stops ? kind.top : kind.infinity();
    }
  }
  const std::uint64_t one = static_cast<std::uint64_t>(kind.bias) << kind.mantissa;
  if (end.saturate && size > one) size = one;
  return sign | size;
}

inline Number product(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return not_a_number;
  Number result;
  result.negative = a.negative != b.negative;
  if (a.is_infinite() || b.is_infinite()) {
    if (a.is_zero() || b.is_zero()) return not_a_number;
    result.what = Number::Class::infinite;
    return result;
  }
  result.magnitude = a.magnitude * b.magnitude;
  result.exponent = a.exponent + b.exponent;
  return result;
}

inline Number sum(Number a, Number b, Toward toward) {
  if (a.is_nan() || b.is_nan()) return not_a_number;
  if (a.is_infinite() || b.is_infinite()) {
    if (a.is_infinite() && b.is_infinite() && a.negative != b.negative) return not_a_number;
    return a.is_infinite() ? a : b;
  }
  if (a.is_zero() && b.is_zero()) {
    Number zero;
    zero.negative = a.negative == b.negative ? a.negative : toward == Toward::down;
    return zero;
  }
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  // The number with the higher leading bit is shifted up as far as possible; the other loses the
  // bits that fall below.
  if (a.exponent + width_of(a.magnitude) < b.exponent + width_of(b.magnitude)) std::swap(a, b);
  const int up = 126 - width_of(a.magnitude);
  a.magnitude <<= up;
  a.exponent -= up;
  const int down = a.exponent - b.exponent;
  if (down <= 0) {
    b.magnitude <<= -down;
  } else {
    const Exact kept = down < 128 ? b.magnitude >> down : 0;
    b.sticky = (down < 128 ? kept << down : 0) != b.magnitude;
    b.magnitude = kept;
  }
  Number result = a;
  result.sticky = b.sticky;
  if (a.negative == b.negative) {
    result.magnitude = a.magnitude + b.magnitude;
  } else if (a.magnitude >= b.magnitude) {
    result.magnitude = a.magnitude - b.magnitude - (b.sticky ? 1 : 0);
  } else {
    result.magnitude = b.magnitude - a.magnitude;
    result.negative = b.negative;
  }
  if (result.is_zero()) result.negative = toward == Toward::down;
  return result;
}

inline Number quotient(Number a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return not_a_number;
  Number result;
  result.negative = a.negative != b.negative;
  if (a.is_infinite() && b.is_infinite()) return not_a_number;
  if (a.is_zero() && b.is_zero()) return not_a_number;
  if (a.is_infinite() || b.is_zero()) {
    result.what = Number::Class::infinite;
    return result;
  }
  if (b.is_infinite() || a.is_zero()) return result;
  const int up = 127 - width_of(a.magnitude);
  a.magnitude <<= up;
  result.magnitude = a.magnitude / b.magnitude;
  result.sticky = a.magnitude % b.magnitude != 0;
  result.exponent = a.exponent - up - b.exponent;
  return result;
}

inline Number square_root(Number a) {
  if (a.is_nan() || a.is_zero()) return a;
  if (a.negative) return not_a_number;
  if (a.is_infinite()) return a;
  int up = 126 - width_of(a.magnitude);
  if (((a.exponent - up) & 1) != 0) --up;
  a.magnitude <<= up;
  a.exponent -= up;
  Exact root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Exact next = root | (Exact{1} << bit);
    if (next * next <= a.magnitude) root = next;
  }
  Number result;
  result.magnitude = root;
  result.sticky = root * root != a.magnitude;
  result.exponent = a.exponent / 2;
  return result;
}

/// -1, 0, 1, or nothing if either is NaN.
inline std::optional<int> order(const Number& a, const Number& b) {
  if (a.is_nan() || b.is_nan()) return std::nullopt;
  const auto rank = [](const Number& n) { return n.is_infinite() ? (n.negative ? -1 : 1) : 0; };
  if (rank(a) != 0 || rank(b) != 0) return rank(a) < rank(b) ? -1 : (rank(a) > rank(b) ? 1 : 0);
  Number minus = b;
  minus.negative = !b.negative;
  const Number difference = sum(a, minus, Toward::even);
  if (difference.is_zero()) return 0;
  return difference.negative ? -1 : 1;
}

}  // namespace cudacore::simulator::testing
