// SPDX-License-Identifier: Apache-2.0
#include "launch/packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cudacore::launching {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Slot slot(ParamKind kind, std::uint32_t size) { return {.kind = kind, .size = size}; }

Slot planned(ParamKind kind, std::size_t size) {
  Param param;
  param.kind = kind;
  param.size = size;
  return make_slot(param);
}

/// The bytes that packing wrote, followed by a guard after the space that each parameter has.
struct Bytes {
  static constexpr std::size_t room = 8;
  std::array<unsigned char, 24> data{};
  Bytes() { data.fill(0xEE); }
  unsigned char* get() { return data.data(); }
  template <typename T>
  T as() const {
    T value{};
    std::memcpy(&value, data.data(), sizeof(value));
    EXPECT_EQ(data[std::max(sizeof(T), room)], 0xEE) << "wrote past the parameter";
    return value;
  }
};

PackResult pack_signed(const Slot& to, std::int64_t value) {
  Bytes bytes;
  return pack_integer(to, static_cast<std::uint64_t>(value), value < 0, bytes.get());
}

PackResult pack_unsigned(const Slot& to, std::uint64_t value) {
  Bytes bytes;
  return pack_integer(to, value, false, bytes.get());
}

class IntegerSize : public testing::TestWithParam<std::uint32_t> {};

TEST_P(IntegerSize, HoldsExactlyItsRange) {
  const std::uint32_t size = GetParam();
  const auto lowest = static_cast<std::int64_t>(~std::uint64_t{0} << (8 * size - 1));
  const std::uint64_t highest = ~std::uint64_t{0} >> (64 - 8 * size);
  const Slot sint = slot(ParamKind::sint, size);
  const Slot uint = slot(ParamKind::uint, size);
  EXPECT_EQ(pack_signed(sint, lowest), PackResult::ok);
  EXPECT_EQ(pack_unsigned(sint, highest / 2), PackResult::ok);
  EXPECT_EQ(pack_unsigned(sint, highest / 2 + 1), PackResult::overflow);
  EXPECT_EQ(pack_signed(uint, 0), PackResult::ok);
  EXPECT_EQ(pack_signed(uint, -1), PackResult::overflow);
  EXPECT_EQ(pack_unsigned(uint, highest), PackResult::ok);
  for (const ParamKind kind : {ParamKind::integer, ParamKind::opaque}) {
    EXPECT_EQ(pack_signed(slot(kind, size), lowest), PackResult::ok);
    EXPECT_EQ(pack_unsigned(slot(kind, size), highest), PackResult::ok);
  }
  if (size == 8) return;  // nothing comes after it
  EXPECT_EQ(pack_signed(sint, lowest - 1), PackResult::overflow);
  EXPECT_EQ(pack_unsigned(uint, highest + 1), PackResult::overflow);
  for (const ParamKind kind : {ParamKind::integer, ParamKind::opaque}) {
    EXPECT_EQ(pack_signed(slot(kind, size), lowest - 1), PackResult::overflow);
    EXPECT_EQ(pack_unsigned(slot(kind, size), highest + 1), PackResult::overflow);
  }
}

/// What a launcher stores without asking must be what pack_integer() would store.
TEST_P(IntegerSize, PlanTakesOnlyWhatFits) {
  for (const ParamKind kind : {ParamKind::sint, ParamKind::uint, ParamKind::integer,
                               ParamKind::opaque, ParamKind::pointer}) {
    if (kind == ParamKind::pointer && GetParam() != 8) continue;
    const Slot to = planned(kind, GetParam());
    EXPECT_EQ(pack_signed(to, to.lowest), PackResult::ok);
    EXPECT_EQ(pack_signed(to, to.highest), PackResult::ok);
    if (to.lowest > std::numeric_limits<std::int64_t>::min()) {
      EXPECT_EQ(pack_signed(to, to.lowest - 1), PackResult::overflow);
    }
    if (to.highest < std::numeric_limits<std::int64_t>::max()) {
      EXPECT_EQ(pack_signed(to, to.highest + 1), PackResult::overflow);
    }
  }
}

TEST(MakeSlot, TakesNoPlainIntegerForOtherKinds) {
  for (const ParamKind kind : {ParamKind::boolean, ParamKind::float16, ParamKind::float32,
                               ParamKind::float64, ParamKind::complex64, ParamKind::structure}) {
    const Slot to = planned(kind, 8);
    EXPECT_GT(to.lowest, to.highest);
  }
  const Slot odd = planned(ParamKind::opaque, 12);
  EXPECT_GT(odd.lowest, odd.highest);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IntegerSize, testing::Values(1U, 2U, 4U, 8U));

TEST(PackInteger, WritesOnlyTheParameter) {
  Bytes bytes;
  EXPECT_EQ(
      pack_integer(slot(ParamKind::sint, 2), static_cast<std::uint64_t>(-2), true, bytes.get()),
      PackResult::ok);
  EXPECT_EQ(bytes.as<std::int16_t>(), -2);
}

TEST(PackInteger, BecomesWhatTheParameterDeclares) {
  Bytes bytes;
  EXPECT_EQ(pack_integer(slot(ParamKind::float64, 8), 3, false, bytes.get()), PackResult::ok);
  EXPECT_EQ(bytes.as<double>(), 3.0);
  EXPECT_EQ(
      pack_integer(slot(ParamKind::float32, 4), static_cast<std::uint64_t>(-3), true, bytes.get()),
      PackResult::ok);
  float single = 0;
  std::memcpy(&single, bytes.get(), sizeof(single));
  EXPECT_EQ(single, -3.0F);
  EXPECT_EQ(pack_unsigned(slot(ParamKind::pointer, 8), 0x7F00), PackResult::ok);
  EXPECT_EQ(pack_signed(slot(ParamKind::pointer, 8), -1), PackResult::overflow);
  EXPECT_EQ(pack_signed(slot(ParamKind::float16, 2), 65504), PackResult::ok);
  EXPECT_EQ(pack_signed(slot(ParamKind::float16, 2), 65519), PackResult::ok);
  EXPECT_EQ(pack_signed(slot(ParamKind::float16, 2), 65520), PackResult::overflow);
  EXPECT_EQ(pack_signed(slot(ParamKind::float16, 2), -65520), PackResult::overflow);
}

TEST(PackInteger, RoundsOnceToBfloat16) {
  // Just above a tie: rounding to double first would make it the tie, and then round down.
  const std::uint64_t value = (std::uint64_t{0x101} << 55) + 1;
  Bytes bytes;
  EXPECT_EQ(pack_integer(slot(ParamKind::bfloat16, 2), value, false, bytes.get()), PackResult::ok);
  EXPECT_EQ(bytes.as<std::uint16_t>(), to_bfloat16(std::ldexp(0x102, 55)));
}

TEST(PackInteger, RefusesOtherKinds) {
  for (const ParamKind kind :
       {ParamKind::boolean, ParamKind::complex64, ParamKind::complex128, ParamKind::structure}) {
    EXPECT_EQ(pack_signed(slot(kind, 8), 1), PackResult::mismatch);
  }
  EXPECT_EQ(pack_signed(slot(ParamKind::opaque, 12), 1), PackResult::mismatch);
  EXPECT_EQ(pack_signed(slot(ParamKind::opaque, 3), 1), PackResult::mismatch);
}

TEST(PackReal, RoundsAndRefusesWhatWouldBecomeInfinite) {
  Bytes bytes;
  EXPECT_EQ(pack_real(slot(ParamKind::float32, 4), 0.1, bytes.get()), PackResult::ok);
  EXPECT_EQ(bytes.as<float>(), 0.1F);
  EXPECT_EQ(pack_real(slot(ParamKind::float32, 4), 1e39, bytes.get()), PackResult::overflow);
  EXPECT_EQ(pack_real(slot(ParamKind::float32, 4), infinity, bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_real(slot(ParamKind::float16, 2), 65519.99, bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_real(slot(ParamKind::float16, 2), 65520.0, bytes.get()), PackResult::overflow);
  EXPECT_EQ(pack_real(slot(ParamKind::float16, 2), -infinity, bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_real(slot(ParamKind::bfloat16, 2), 3.4e38, bytes.get()), PackResult::overflow);
  EXPECT_EQ(pack_real(slot(ParamKind::bfloat16, 2), std::nan(""), bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_real(slot(ParamKind::float64, 8), 1e300, bytes.get()), PackResult::ok);
  EXPECT_EQ(bytes.as<double>(), 1e300);
}

TEST(PackReal, FitsAnOpaqueParameterBySize) {
  Bytes bytes;
  EXPECT_EQ(pack_real(slot(ParamKind::opaque, 8), 0.1, bytes.get()), PackResult::ok);
  EXPECT_EQ(bytes.as<double>(), 0.1);
  EXPECT_EQ(pack_real(slot(ParamKind::opaque, 4), 0.1, bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_real(slot(ParamKind::opaque, 2), 0.1, bytes.get()), PackResult::mismatch);
}

TEST(PackReal, NeverGoesToAnInteger) {
  Bytes bytes;
  for (const ParamKind kind :
       {ParamKind::sint, ParamKind::uint, ParamKind::integer, ParamKind::pointer,
        ParamKind::boolean, ParamKind::structure, ParamKind::complex64}) {
    EXPECT_EQ(pack_real(slot(kind, 8), 1.0, bytes.get()), PackResult::mismatch);
  }
}

TEST(PackBoolean, GoesOnlyToABool) {
  Bytes bytes;
  EXPECT_EQ(pack_boolean(slot(ParamKind::boolean, 1), true, bytes.get()), PackResult::ok);
  EXPECT_EQ(bytes.as<unsigned char>(), 1);
  EXPECT_EQ(pack_boolean(slot(ParamKind::integer, 1), false, bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_boolean(slot(ParamKind::opaque, 1), true, bytes.get()), PackResult::ok);
  for (const ParamKind kind : {ParamKind::sint, ParamKind::uint, ParamKind::integer,
                               ParamKind::float32, ParamKind::opaque}) {
    EXPECT_EQ(pack_boolean(slot(kind, 4), true, bytes.get()), PackResult::mismatch);
  }
  EXPECT_EQ(pack_boolean(slot(ParamKind::sint, 1), true, bytes.get()), PackResult::mismatch);
}

TEST(PackComplex, GoesToComplexStructs) {
  Bytes bytes;
  EXPECT_EQ(pack_complex(slot(ParamKind::complex64, 8), 1.5, -2, bytes.get()), PackResult::ok);
  EXPECT_EQ((bytes.as<std::array<float, 2>>()), (std::array<float, 2>{1.5F, -2.0F}));
  EXPECT_EQ(pack_complex(slot(ParamKind::complex128, 16), 1.5, -2, bytes.get()), PackResult::ok);
  EXPECT_EQ((bytes.as<std::array<double, 2>>()), (std::array<double, 2>{1.5, -2.0}));
  EXPECT_EQ(pack_complex(slot(ParamKind::complex64, 8), 0, 1e39, bytes.get()),
            PackResult::overflow);
  EXPECT_EQ(pack_complex(slot(ParamKind::opaque, 16), 1, 2, bytes.get()), PackResult::ok);
  EXPECT_EQ(pack_complex(slot(ParamKind::float64, 8), 1, 2, bytes.get()), PackResult::mismatch);
  EXPECT_EQ(pack_complex(slot(ParamKind::structure, 16), 1, 2, bytes.get()), PackResult::mismatch);
}

struct ExactCase {
  Slot to;
  ParamKind kind;
  std::size_t size;
  PackResult expected;
};

class PackExact : public testing::TestWithParam<ExactCase> {};

TEST_P(PackExact, OnlyTheSameType) {
  const ExactCase& given = GetParam();
  const std::array<unsigned char, 16> value{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  Bytes bytes;
  EXPECT_EQ(pack_exact(given.to, given.kind, given.size, value.data(), bytes.get()),
            given.expected);
  if (given.expected != PackResult::ok) return;
  EXPECT_EQ(std::memcmp(bytes.get(), value.data(), given.size), 0);
  EXPECT_EQ(bytes.data[std::max(given.size, Bytes::room)], 0xEE);
}

using enum ParamKind;
constexpr PackResult ok = PackResult::ok;
constexpr PackResult mismatch = PackResult::mismatch;

INSTANTIATE_TEST_SUITE_P(
    Pairs, PackExact,
    testing::Values(
        ExactCase{slot(sint, 4), sint, 4, ok}, ExactCase{slot(sint, 4), uint, 4, mismatch},
        ExactCase{slot(sint, 8), sint, 4, mismatch}, ExactCase{slot(uint, 4), sint, 4, mismatch},
        ExactCase{slot(integer, 4), sint, 4, ok}, ExactCase{slot(integer, 4), uint, 4, ok},
        ExactCase{slot(integer, 4), float32, 4, mismatch},
        ExactCase{slot(integer, 1), boolean, 1, ok}, ExactCase{slot(opaque, 4), float32, 4, ok},
        ExactCase{slot(opaque, 4), float64, 8, mismatch},
        ExactCase{slot(float32, 4), float32, 4, ok},
        ExactCase{slot(float32, 4), float64, 8, mismatch},
        ExactCase{slot(float16, 2), float16, 2, ok},
        ExactCase{slot(float16, 2), bfloat16, 2, mismatch},
        ExactCase{slot(bfloat16, 2), bfloat16, 2, ok},
        ExactCase{slot(float16, 2), uint, 2, mismatch}, ExactCase{slot(boolean, 1), boolean, 1, ok},
        ExactCase{slot(boolean, 1), uint, 1, mismatch},
        ExactCase{slot(sint, 1), boolean, 1, mismatch}, ExactCase{slot(pointer, 8), uint, 8, ok},
        ExactCase{slot(pointer, 8), sint, 8, mismatch},
        ExactCase{slot(pointer, 8), uint, 4, mismatch}, ExactCase{slot(pointer, 8), pointer, 8, ok},
        ExactCase{slot(integer, 8), pointer, 8, ok}, ExactCase{slot(uint, 8), pointer, 8, mismatch},
        ExactCase{slot(complex64, 8), complex64, 8, ok},
        ExactCase{slot(complex128, 16), complex64, 8, mismatch},
        ExactCase{slot(structure, 8), sint, 8, mismatch}));

TEST(PackPointer, GoesToPointersAndUntypedWords) {
  Bytes bytes;
  for (const ParamKind kind : {pointer, integer, opaque}) {
    EXPECT_EQ(pack_pointer(slot(kind, 8), 0x7F00, bytes.get()), ok);
    EXPECT_EQ(bytes.as<std::uint64_t>(), 0x7F00U);
  }
  EXPECT_EQ(pack_pointer(slot(uint, 8), 1, bytes.get()), mismatch);
  EXPECT_EQ(pack_pointer(slot(float64, 8), 1, bytes.get()), mismatch);
  EXPECT_EQ(pack_pointer(slot(opaque, 4), 1, bytes.get()), mismatch);
}

TEST(PackBytes, NeedsTheExactSize) {
  const std::array<unsigned char, 16> value{};
  Bytes bytes;
  EXPECT_EQ(pack_bytes(slot(structure, 12), value.data(), 12, bytes.get()), ok);
  EXPECT_EQ(pack_bytes(slot(structure, 12), value.data(), 11, bytes.get()), mismatch);
  EXPECT_EQ(pack_bytes(slot(complex64, 8), value.data(), 8, bytes.get()), ok);
  EXPECT_EQ(pack_bytes(slot(opaque, 3), value.data(), 3, bytes.get()), ok);
  EXPECT_EQ(pack_bytes(slot(sint, 4), value.data(), 4, bytes.get()), mismatch);
  EXPECT_EQ(pack_bytes(slot(float16, 2), value.data(), 2, bytes.get()), mismatch);
}

/// The value of a finite 16-bit floating-point number, from its definition.
double value_of(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                    : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Every finite value, and points between it and its successor.
void check_all(std::uint16_t (*round)(double), int exponent_bits, int mantissa_bits) {
  const unsigned first_infinite = ((1U << exponent_bits) - 1) << mantissa_bits;
  for (unsigned sign : {0U, 0x8000U}) {
    for (unsigned bits = 0; bits < first_infinite; ++bits) {
      const auto encoded = static_cast<std::uint16_t>(sign | bits);
      const auto above = static_cast<std::uint16_t>(encoded + 1);
      const double value = value_of(encoded, exponent_bits, mantissa_bits);
      ASSERT_EQ(round(value), encoded);
      // One past the largest finite value is encoded like infinity.
      const double next = value_of(above, exponent_bits, mantissa_bits);
      const double middle = value + (next - value) / 2;
      ASSERT_EQ(round(middle), (encoded & 1) == 0 ? encoded : above) << std::hex << encoded;
      ASSERT_EQ(round(std::nextafter(middle, value)), encoded) << std::hex << encoded;
      ASSERT_EQ(round(std::nextafter(middle, next)), above) << std::hex << encoded;
    }
  }
}

TEST(Rounding, Float16IsNearestEvenEverywhere) { check_all(to_float16, 5, 10); }

TEST(Rounding, Bfloat16IsNearestEvenEverywhere) { check_all(to_bfloat16, 8, 7); }

TEST(Rounding, SpecialValues) {
  EXPECT_EQ(to_float16(infinity), 0x7C00);
  EXPECT_EQ(to_float16(-infinity), 0xFC00);
  EXPECT_EQ(to_float16(1e308), 0x7C00);
  EXPECT_EQ(to_float16(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(to_float16(-std::numeric_limits<double>::denorm_min()), 0x8000);
  EXPECT_EQ(to_bfloat16(-infinity), 0xFF80);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<double>::denorm_min()), 0);
  for (const std::uint64_t payload : {std::uint64_t{1}, std::uint64_t{1} << 51}) {
    const auto nan = std::bit_cast<double>(std::uint64_t{0x7FF} << 52 | payload);
    EXPECT_GT(to_float16(nan) & 0x7FFF, 0x7C00);
    EXPECT_GT(to_bfloat16(nan) & 0x7FFF, 0x7F80);
  }
}

}  // namespace
}  // namespace cudacore::launching
