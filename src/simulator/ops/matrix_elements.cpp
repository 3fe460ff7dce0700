// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/matrix_elements.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {

namespace {

/// A float of 8 bits. e5m2 has infinities; e4m3 has one NaN of each sign.
double decode_small(std::uint64_t bits, int mantissa_bits, int bias, bool has_infinity) {
  const int mantissa = static_cast<int>(bits & ((1U << mantissa_bits) - 1));
  const int exponent = static_cast<int>((bits & 0x7f) >> mantissa_bits);
  const int top = (1 << (7 - mantissa_bits)) - 1;
  double value = 0;
  if (exponent == top && has_infinity) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (!has_infinity && (bits & 0x7f) == 0x7f) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }
  return (bits & 0x80) != 0 ? -value : value;
}

}  // namespace

double decode_float(Element element, std::uint64_t bits) noexcept {
  switch (element) {
    case Element::f16:
      return F16::widen(static_cast<std::uint16_t>(bits));
    case Element::bf16:
      return Bf16::widen(static_cast<std::uint16_t>(bits));
    case Element::tf32:  // the last 13 bits are not read
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffffe000U);
    case Element::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Element::f64:
      return std::bit_cast<double>(bits);
    case Element::e4m3:
      return decode_small(bits, 3, 7, false);
    case Element::e5m2:
      return decode_small(bits, 2, 15, true);
    default:
      return 0;
  }
}

std::uint64_t encode_float(Element element, double value) noexcept {
  switch (element) {
    case Element::f16:
      return F16::narrow(odd_narrow(value));
    case Element::f64:
      return std::bit_cast<std::uint64_t>(value);
    default:
      return std::bit_cast<std::uint32_t>(canonical(static_cast<float>(value)));
  }
}

}  // namespace cudacore::simulator
