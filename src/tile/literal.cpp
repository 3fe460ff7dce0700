// SPDX-License-Identifier: Apache-2.0
#include "tile/literal.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

namespace cudacore::tile {
namespace {

struct Format {
  int exponent_bits = 8;
  int mantissa_bits = 23;
  int bias = 127;
  bool is_signed = true;
  bool has_infinity = true;
  std::uint32_t largest = 0;  // of finite numbers, without the sign
  std::uint32_t not_a_number = 0;
};

Format format_of(Element element) {
  switch (element) {
    case Element::f16:
      return {5, 10, 15, true, true, 0x7BFF, 0x7E00};
    case Element::bf16:
      return {8, 7, 127, true, true, 0x7F7F, 0x7FC0};
    case Element::tf32:  // without the 13 bits that are zero
      return {8, 10, 127, true, true, 0x3FBFF, 0x3FE00};
    case Element::f32:
      return {8, 23, 127, true, true, 0x7F7FFFFF, 0x7FC00000};
    case Element::e4m3:
      return {4, 3, 7, true, false, 0x7E, 0x7F};
    case Element::e5m2:
      return {5, 2, 15, true, false, 0x7B, 0x7F};
    case Element::e8m0:
      return {8, 0, 127, false, false, 0xFE, 0xFF};
    case Element::e5m3:
      return {5, 3, 15, false, false, 0xFE, 0xFF};
    default:
      return {2, 1, 1, true, false, 0x7, 0x7};
  }
}

std::string hexadecimal(std::uint64_t bits, const char* suffix) {
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "0x%llx%s",
                                  static_cast<unsigned long long>(bits), suffix));
  return text.data();
}

std::string decimal(double number, int digits) {
  std::array<char, 64> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.*g", digits, number));
  std::string result = text.data();
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result;
}

}  // namespace

std::uint32_t encode(double number, Element element) {
  const Format format = format_of(element);
  const int sign_at = format.exponent_bits + format.mantissa_bits;
  if (std::isnan(number)) return format.not_a_number;
  const std::uint32_t sign =
      format.is_signed && std::signbit(number) ? std::uint32_t{1} << sign_at : 0;
  if (!format.is_signed && number < 0) number = 0;
  const double size = std::fabs(number);
  if (std::isinf(size)) return sign | (format.has_infinity ? format.largest + 1 : format.largest);
  // The number in units of the last place of its binade, or of the subnormal numbers.
  int exponent = 0;
  static_cast<void>(std::frexp(size, &exponent));
  const bool no_zero = element == Element::e8m0;
  const int least = 1 - format.bias;
  const int binade = size == 0 ? least : std::max(exponent - 1, no_zero ? -format.bias : least);
  const auto units =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(size, format.mantissa_bits - binade)));
  std::uint64_t bits = 0;
  if (no_zero) {
    bits = static_cast<std::uint64_t>(binade + format.bias) + (units > 1 ? 1 : 0);
  } else {
    // A carry out of the mantissa becomes one of the exponent.
    bits = units + (static_cast<std::uint64_t>(binade - least) << format.mantissa_bits);
  }
  if (bits > format.largest)
    return sign | (format.has_infinity ? format.largest + 1 : format.largest);
  return sign | static_cast<std::uint32_t>(bits);
}

std::string literal(std::int64_t number, Element element) {
  if (is_float(element)) return literal(static_cast<double>(number), element);
  const std::string text = std::to_string(number);
  switch (element) {
    case Element::i1:
      return number != 0 ? "true" : "false";
    case Element::i32:
      if (number == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
      return std::to_string(static_cast<std::int32_t>(number));
    case Element::i64:
      if (number == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
      return text + "ll";
    case Element::u32:
      return std::to_string(static_cast<std::uint32_t>(number)) + "u";
    case Element::u64:
      return std::to_string(static_cast<std::uint64_t>(number)) + "ull";
    default:
      return std::string(name(element)) + "(" + text + ")";
  }
}

std::string literal(double number, Element element) {
  if (!is_float(element)) return literal(static_cast<std::int64_t>(number), element);
  if (element == Element::f64) {
    if (!std::isfinite(number))
      return "__longlong_as_double(" + hexadecimal(std::bit_cast<std::uint64_t>(number), "ll") +
             ")";
    return decimal(number, 17);
  }
  if (element == Element::f32) {
    const std::uint32_t bits = encode(number, element);
    const auto rounded = std::bit_cast<float>(bits);
    if (!std::isfinite(rounded)) return "__int_as_float(" + hexadecimal(bits, "") + ")";
    std::string text = decimal(static_cast<double>(rounded), 9) + "f";
    return std::signbit(rounded) ? "(" + text + ")" : text;
  }
  std::uint32_t bits = encode(number, element);
  if (element == Element::tf32) bits <<= 13;
  return std::string(name(element)) + "::of(" + hexadecimal(bits, "") + ")";
}

std::string literal(const Attribute& number, Element element) {
  if (const auto* const integer = std::get_if<std::int64_t>(&number.value))
    return element == Element::u64 || !is_float(element)
               ? literal(*integer, element)
               : literal(static_cast<double>(*integer), element);
  if (const auto* const real = std::get_if<double>(&number.value)) return literal(*real, element);
  const auto* const word = std::get_if<Word>(&number.value);
  if (word != nullptr && word->text == "nan") return literal(std::nan(""), element);
  if (word != nullptr && word->text == "inf")
    return literal(std::numeric_limits<double>::infinity(), element);
  return literal(std::int64_t{word != nullptr && word->text == "true" ? 1 : 0}, element);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      // Three octal digits end the escape, whatever follows.
      std::array<char, 8> escape{};
      static_cast<void>(std::snprintf(escape.data(), escape.size(), "\\%03o", byte));
      result += escape.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace cudacore::tile
