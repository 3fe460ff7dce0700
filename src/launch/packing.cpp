// SPDX-License-Identifier: Apache-2.0
#include "launch/packing.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace cudacore::launching {
namespace {

/// The bits of a double in a 16-bit format, rounded to nearest even; values that are too large for
/// the format become infinite.
std::uint16_t round_to_16_bits(double value, unsigned exponent_bits,
                               unsigned mantissa_bits) noexcept {
  constexpr unsigned double_mantissa = 52;
  constexpr std::uint64_t implicit_one = std::uint64_t{1} << double_mantissa;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = (bits >> 63) << 15;
  const int raw_exponent = static_cast<int>(bits >> double_mantissa & 0x7FF);
  const std::uint64_t fraction = bits & (implicit_one - 1);
  const int largest = (1 << exponent_bits) - 1;
  const std::uint64_t infinity = static_cast<std::uint64_t>(largest) << mantissa_bits;
  if (raw_exponent == 0x7FF) {
    if (fraction == 0) return static_cast<std::uint16_t>(sign | infinity);
    const std::uint64_t quiet = std::uint64_t{1} << (mantissa_bits - 1);
    const std::uint64_t payload = fraction >> (double_mantissa - mantissa_bits);
    return static_cast<std::uint16_t>(sign | infinity | quiet | payload);
  }
  int exponent = raw_exponent - 1023 + (1 << (exponent_bits - 1)) - 1;
  if (exponent >= largest) return static_cast<std::uint16_t>(sign | infinity);
  // A subnormal double has no implicit one, but it is far below either format's smallest value, so
  // that doesn't matter.
  const std::uint64_t significand = fraction | implicit_one;
  unsigned shift = double_mantissa - mantissa_bits;
  if (exponent <= 0) {
    shift += static_cast<unsigned>(1 - exponent);
    exponent = 1;
    if (shift > double_mantissa + 1) return static_cast<std::uint16_t>(sign);
  }
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = significand & ((half << 1) - 1);
  std::uint64_t rounded = significand >> shift;
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // The significand's leading one adds itself to the exponent.
  const std::uint64_t encoded =
      (static_cast<std::uint64_t>(exponent - 1) << mantissa_bits) + rounded;
  return static_cast<std::uint16_t>(sign | encoded);
}

template <typename T>
PackResult store(T value, unsigned char* destination) noexcept {
  std::memcpy(destination, &value, sizeof(value));
  return PackResult::ok;
}

/// The low bytes, because every supported host is little-endian; the high bytes go into the gap
/// after them.
PackResult store_low(std::uint64_t bits, unsigned char* destination) noexcept {
  static_assert(std::endian::native == std::endian::little);
  return store(bits, destination);
}

bool is_integer_size(std::uint32_t size) noexcept {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

bool fits_signed(std::uint64_t bits, bool negative, std::uint32_t size) noexcept {
  const std::uint64_t largest = (std::uint64_t{1} << (8 * size - 1)) - 1;
  return negative ? ~bits <= largest : bits <= largest;
}

bool fits_unsigned(std::uint64_t bits, bool negative, std::uint32_t size) noexcept {
  return !negative && (size == 8 || bits >> (8 * size) == 0);
}

/// Converts an integer to a double, and sets its last bit if digits were lost, so that rounding
/// again gives the same result as rounding once.
double to_odd_double(std::uint64_t bits, bool negative) noexcept {
  std::uint64_t magnitude = negative ? ~bits + 1 : bits;
  double scale = 1;
  if (magnitude >> 53 != 0) {
    magnitude = magnitude >> 11 | static_cast<std::uint64_t>((magnitude & 0x7FF) != 0);
    scale = 2048;
  }
  const double value = static_cast<double>(magnitude) * scale;
  return negative ? -value : value;
}

PackResult pack_16_bit_real(ParamKind kind, double value, unsigned char* destination) noexcept {
  const bool half = kind == ParamKind::float16;
  const std::uint16_t bits = half ? to_float16(value) : to_bfloat16(value);
  const std::uint16_t infinity = half ? 0x7C00 : 0x7F80;
  if ((bits & 0x7FFF) == infinity && !std::isinf(value)) return PackResult::overflow;
  return store(bits, destination);
}

FastPath fast_path(ParamKind kind) noexcept {
  return kind == ParamKind::pointer   ? FastPath::pointer
         : kind == ParamKind::float32 ? FastPath::float32
         : kind == ParamKind::float64 ? FastPath::float64
                                      : FastPath::integer;
}

constexpr std::size_t largest_alignment = 16;

std::size_t round_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// The alignment of the packed bytes: enough for any load by the driver, and for whole words here.
std::size_t alignment(const Param& param) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (param.align != 0) return std::clamp(param.align, word, largest_alignment);
  std::size_t power = word;
  while (power < largest_alignment && param.size != 0 && param.size % (2 * power) == 0) power *= 2;
  return power;
}

}  // namespace

Slot make_slot(const Param& param) noexcept {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  Slot slot{.kind = param.kind,
            .fast_path = fast_path(param.kind),
            .size = static_cast<std::uint32_t>(param.size)};
  if (!is_integer_size(slot.size)) return slot;
  const std::int64_t highest_signed = largest >> (64 - 8 * slot.size);
  const std::int64_t highest_unsigned = slot.size == 8 ? largest : 2 * highest_signed + 1;
  switch (slot.kind) {
    case ParamKind::sint:
      slot.lowest = -highest_signed - 1;
      slot.highest = highest_signed;
      break;
    case ParamKind::uint:
    case ParamKind::pointer:
      slot.lowest = 0;
      slot.highest = highest_unsigned;
      break;
    case ParamKind::integer:
    case ParamKind::opaque:
      slot.lowest = -highest_signed - 1;
      slot.highest = highest_unsigned;
      break;
    default:
      break;
  }
  return slot;
}

PackingPlan::PackingPlan(std::span<const Param> params) {
  slots.reserve(params.size());
  for (const Param& param : params) {
    const std::size_t offset = round_up(bytes, alignment(param));
    bytes = offset + std::max(param.size, sizeof(std::uint64_t));
    slots.push_back(make_slot(param));
    slots.back().offset = static_cast<std::uint32_t>(offset);
    if (auto layout = signature::view_layout(param)) {
      views.push_back(std::move(*layout));
      slots.back().view = static_cast<std::uint16_t>(views.size());
    }
  }
  bytes = round_up(bytes, largest_alignment);
}

std::uint16_t to_float16(double value) noexcept { return round_to_16_bits(value, 5, 10); }
std::uint16_t to_bfloat16(double value) noexcept { return round_to_16_bits(value, 8, 7); }

PackResult pack_integer(const Slot& slot, std::uint64_t bits, bool negative,
                        unsigned char* destination) noexcept {
  switch (slot.kind) {
    case ParamKind::sint:
      if (!fits_signed(bits, negative, slot.size)) return PackResult::overflow;
      return store_low(bits, destination);
    case ParamKind::uint:
      if (!fits_unsigned(bits, negative, slot.size)) return PackResult::overflow;
      return store_low(bits, destination);
    case ParamKind::pointer:
      if (negative) return PackResult::overflow;
      return store(bits, destination);
    case ParamKind::integer:
    case ParamKind::opaque:
      if (!is_integer_size(slot.size)) return PackResult::mismatch;
      if (!fits_signed(bits, negative, slot.size) && !fits_unsigned(bits, negative, slot.size)) {
        return PackResult::overflow;
      }
      return store_low(bits, destination);
    case ParamKind::float64:
      return store(negative ? static_cast<double>(static_cast<std::int64_t>(bits))
                            : static_cast<double>(bits),
                   destination);
    case ParamKind::float32:
      return store(
          negative ? static_cast<float>(static_cast<std::int64_t>(bits)) : static_cast<float>(bits),
          destination);
    case ParamKind::float16:
    case ParamKind::bfloat16:
      return pack_16_bit_real(slot.kind, to_odd_double(bits, negative), destination);
    default:
      return PackResult::mismatch;
  }
}

PackResult pack_real(const Slot& slot, double value, unsigned char* destination) noexcept {
  switch (slot.kind) {
    case ParamKind::float64:
      return store(value, destination);
    case ParamKind::float32:
      return pack_float32(value, destination);
    case ParamKind::float16:
    case ParamKind::bfloat16:
      return pack_16_bit_real(slot.kind, value, destination);
    case ParamKind::opaque:
      if (slot.size == sizeof(double)) return store(value, destination);
      if (slot.size == sizeof(float)) return pack_float32(value, destination);
      return PackResult::mismatch;
    default:
      return PackResult::mismatch;
  }
}

PackResult pack_boolean(const Slot& slot, bool value, unsigned char* destination) noexcept {
  // PTX declares a bool as .u8, so a single byte of unknown sign may be a bool.
  const bool byte =
      slot.size == 1 && (slot.kind == ParamKind::integer || slot.kind == ParamKind::opaque);
  if (slot.kind != ParamKind::boolean && !byte) return PackResult::mismatch;
  *destination = value ? 1 : 0;
  return PackResult::ok;
}

PackResult pack_complex(const Slot& slot, double real, double imaginary,
                        unsigned char* destination) noexcept {
  const bool opaque = slot.kind == ParamKind::opaque;
  if (slot.kind == ParamKind::complex128 || (opaque && slot.size == 2 * sizeof(double))) {
    store(real, destination);
    return store(imaginary, destination + sizeof(double));
  }
  if (slot.kind == ParamKind::complex64 || (opaque && slot.size == 2 * sizeof(float))) {
    const PackResult first = pack_float32(real, destination);
    const PackResult second = pack_float32(imaginary, destination + sizeof(float));
    return first != PackResult::ok ? first : second;
  }
  return PackResult::mismatch;
}

PackResult pack_exact(const Slot& slot, ParamKind kind, std::size_t size, const void* value,
                      unsigned char* destination) noexcept {
  if (kind == ParamKind::pointer && slot.kind != ParamKind::pointer) {
    std::uint64_t address = 0;
    if (size != sizeof(address)) return PackResult::mismatch;
    std::memcpy(&address, value, sizeof(address));
    return pack_pointer(slot, address, destination);
  }
  if (size != slot.size) return PackResult::mismatch;
  const bool is_integer = kind == ParamKind::sint || kind == ParamKind::uint;
  const bool fits = kind == slot.kind || slot.kind == ParamKind::opaque ||
                    (slot.kind == ParamKind::integer &&
                     (is_integer || (kind == ParamKind::boolean && size == 1))) ||
                    (kind == ParamKind::integer &&
                     (slot.kind == ParamKind::sint || slot.kind == ParamKind::uint)) ||
                    (slot.kind == ParamKind::pointer && kind == ParamKind::uint);
  if (!fits) return PackResult::mismatch;
  std::memcpy(destination, value, size);
  return PackResult::ok;
}

PackResult pack_pointer(const Slot& slot, std::uint64_t address,
                        unsigned char* destination) noexcept {
  const bool wide = slot.size == sizeof(address) &&
                    (slot.kind == ParamKind::integer || slot.kind == ParamKind::opaque);
  if (slot.kind != ParamKind::pointer && !wide) return PackResult::mismatch;
  return store(address, destination);
}

PackResult pack_bytes(const Slot& slot, const void* bytes, std::size_t size,
                      unsigned char* destination) noexcept {
  const bool takes_bytes = slot.kind == ParamKind::structure || slot.kind == ParamKind::opaque ||
                           slot.kind == ParamKind::complex64 || slot.kind == ParamKind::complex128;
  if (!takes_bytes || size != slot.size) return PackResult::mismatch;
  std::memcpy(destination, bytes, size);
  return PackResult::ok;
}

}  // namespace cudacore::launching
