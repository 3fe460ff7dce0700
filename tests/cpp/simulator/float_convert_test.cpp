// SPDX-License-Identifier: Apache-2.0
//
// Every cvt from or to a floating-point type, compared with exact arithmetic.
#include <gtest/gtest.h>

#include "simulator/float_ops_test_support.hpp"

namespace cudacore::simulator {
namespace {

using namespace testing;

struct WholeKind {
  bool is_signed;
  unsigned bits;
};
std::optional<WholeKind> whole_kind(const std::string& type) {
  if (type[0] != 's' && type[0] != 'u') return std::nullopt;
  const std::string digits = type.substr(1);
  if (digits != "8" && digits != "16" && digits != "32" && digits != "64") return std::nullopt;
  return WholeKind{type[0] == 's', static_cast<unsigned>(std::stoi(digits))};
}

std::optional<Toward> integral(const FloatOpcode& opcode) {
  if (opcode.has("rni")) return Toward::even;
  if (opcode.has("rzi")) return Toward::zero;
  if (opcode.has("rmi")) return Toward::down;
  if (opcode.has("rpi")) return Toward::up;
  return std::nullopt;
}

Number of_whole(std::uint64_t bits, WholeKind kind) {
  Number number;
  const std::uint64_t value = bits & (~std::uint64_t{0} >> (64 - kind.bits));
  const bool negative = kind.is_signed && (value >> (kind.bits - 1) & 1) != 0;
  number.negative = negative;
  number.magnitude = negative ? (Exact{1} << kind.bits) - value : value;
  return number;
}

std::uint64_t to_whole(const Number& number, WholeKind kind, Toward toward, unsigned source_bits) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - kind.bits);
  const std::uint64_t top = std::uint64_t{1} << (kind.bits - 1);
  if (number.is_nan()) return kind.bits == 64 || source_bits == 64 ? top : 0;
  const std::uint64_t most = kind.is_signed ? top - 1 : mask;
  const std::uint64_t least = kind.is_signed ? top : 0;
  const bool great = number.is_infinite() ||
                     (!number.is_zero() && number.exponent + width_of(number.magnitude) > 66);
  if (great) return number.negative ? least : most;
  const Exact size = round_at(number, 0, toward);
  if (!number.negative) return size > most ? most : static_cast<std::uint64_t>(size);
  if (size > least) return least;
  return (0 - static_cast<std::uint64_t>(size)) & mask;
}

/// A NaN that keeps as many of its bits as possible.
std::uint64_t keep_nan(std::uint64_t bits, const FloatKind& from, const FloatKind& to) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << from.mantissa) - 1);
  const std::uint64_t moved = to.mantissa >= from.mantissa
                                  ? fraction << (to.mantissa - from.mantissa)
                                  : fraction >> (from.mantissa - to.mantissa);
  const std::uint64_t sign = (bits & from.sign()) != 0 ? to.sign() : 0;
  return sign | to.infinity() | moved | std::uint64_t{1} << (to.mantissa - 1);
}

std::optional<std::uint64_t> expected_convert(const FloatOpcode& opcode, const Form&,
                                              const Inputs& inputs) {
  const std::string& from = opcode.type();
  const std::string& to = opcode.parts[opcode.parts.size() - 2];
  const std::uint64_t bits = inputs[1];
  const FloatKind* from_kind = float_kind(from);
  const FloatKind* to_kind = float_kind(to);
  Ending end = opcode.ending();
  const bool flush = end.flush && to != "f16";
  if (from_kind == nullptr && to_kind != nullptr) {
    const auto whole = whole_kind(from);
    if (!whole) return std::nullopt;
    return pack(of_whole(bits, *whole), *to_kind, end);
  }
  if (from_kind == nullptr) return std::nullopt;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - from_kind->bits);
  Number number = unpack(bits & mask, *from_kind, flush && from == "f32");
  if (to_kind == nullptr) {
    const auto whole = whole_kind(to);
    const auto toward = integral(opcode);
    if (!whole || !toward) return std::nullopt;
    return to_whole(number, *whole, *toward, from_kind->bits);
  }
  // Moves, and NaNs that double precision passes on.
  const auto toward = integral(opcode);
  const bool bare = opcode.parts.size() == 3;
  if (bare && (from == to ? from_kind->bits > 16 : from == "bf16" && to == "f32")) {
    return from == to ? bits : bits << 16;
  }
  const bool hands_on = from == "f64" || (from == "f32" && to == "f64" && !end.flush);
  if (number.is_nan() && hands_on && !end.saturate) return keep_nan(bits, *from_kind, *to_kind);
  if (number.is_nan() && from == "f32" && to == "f64" && !end.saturate) {
    return keep_nan(float_kind("f32")->nan, *from_kind, *to_kind);
  }
  if (number.is_nan() && to == "f64" && !end.saturate) {
    return keep_nan(from == "f16" ? bits : bits & 0xffff, *from_kind, *to_kind);
  }
  if (toward && !number.is_nan() && !number.is_infinite() && number.exponent < 0) {
    number.magnitude = round_at(number, 0, *toward);
    number.exponent = 0;
  }
  end.flush = flush && to == "f32";
  return pack(number, *to_kind, end);
}

/// Values of formats of 4 to 8 bits, f16, bf16 and tf32, in pairs and groups of four.
std::uint64_t narrow(const Number& number, const std::string& type, const Ending& end) {
  if (type == "ue8m0") {
    if (number.is_nan()) return 0xff;
    if (number.is_infinite()) return end.finite ? 0xfe : 0xff;
    if (number.is_zero()) return 0;
    const int lead = number.exponent + width_of(number.magnitude) - 1;
    const bool between = (number.magnitude & (number.magnitude - 1)) != 0;
    const int power = lead + 127 + (between && end.toward == Toward::up ? 1 : 0);
    if (power < 0) return 0;
    return static_cast<std::uint64_t>(power > 0xfe ? (end.finite ? 0xfe : 0xff) : power);
  }
  return pack(number, *float_kind(type), end);
}
Number widen(std::uint64_t bits, const std::string& type) {
  if (type != "ue8m0") return unpack(bits, *float_kind(type));
  if (bits == 0xff) return not_a_number;
  Number number;
  number.magnitude = 1;
  number.exponent = static_cast<int>(bits) - 127;
  return number;
}
unsigned stride_of(const std::string& type) {
  if (type == "e2m1") return 4;
  return type == "f16" || type == "bf16" ? 16 : 8;
}

std::optional<std::uint64_t> expected_small(const FloatOpcode& opcode, const Form& form,
                                            const Inputs& inputs) {
  const auto [from, from_count] = element_of(opcode.type());
  const auto [to, to_count] = element_of(opcode.parts[opcode.parts.size() - 2]);
  const Ending end = opcode.ending();
  const FloatKind& f32 = *float_kind("f32");
  if (opcode.has("rs")) return std::nullopt;
  if (to == "tf32") {
    const std::uint64_t bits = inputs[1];
    if (opcode.has("rna") && !end.finite && unpack(bits, f32).is_nan()) return bits & 0xffffe000;
    return narrow(unpack(bits, f32), to, end) << 13;
  }
  if (to_count == 1) return narrow(unpack(inputs[1], f32), to, end);
  if (from == "f32") {
    return narrow(unpack(inputs[1], f32), to, end) << stride_of(to) |
           narrow(unpack(inputs[2], f32), to, end);
  }
  std::uint64_t result = 0;
  for (unsigned part = 0; part < 2; ++part) {
    const std::uint64_t bits =
        inputs[1] >> (part * stride_of(from)) & ((1u << stride_of(from)) - 1);
    const std::uint64_t used = from == "e2m3" || from == "e3m2" ? bits & 0x3f : bits;
    result |= narrow(widen(used, from), to, end) << (part * stride_of(to));
  }
  static_cast<void>(form);
  return result;
}

TEST(FloatConvert, IsExactlyRounded) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_float_convert<I>(table); });
    check_forms(table, expected_convert, 24);
  });
}

TEST(FloatConvert, SmallFormatsAreExactlyRounded) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_small_float_convert<I>(table); });
    std::mt19937_64 random(21);
    for (const Form* form : table.all()) {
      if (form->key.starts_with("cvt.rs")) continue;
      check_form(*form, expected_small, random, 24);
      if (HasFatalFailure()) return;
    }
  });
}

/// Random bits move a value to either of its neighbors: all zeros to the one towards zero, all ones
/// to the one away from it.
TEST(FloatConvert, StochasticRoundingLiesBetweenNeighbours) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_small_float_convert<I>(table); });
    std::mt19937_64 random(22);
    const FloatKind& f32 = *float_kind("f32");
    for (const Form* form : table.all()) {
      if (!form->key.starts_with("cvt.rs")) continue;
      const FloatOpcode opcode(form->key);
      const auto [to, count] = element_of(opcode.parts[opcode.parts.size() - 2]);
      const FloatKind& kind = *float_kind(to);
      Ending end = opcode.ending();
      for (const std::uint32_t draw : {0u, 0xffffffffu}) {
        OneInstruction one(*form);
        const std::size_t last = one.operands().size() - 1;
        one.row<std::uint32_t>(last).fill(draw);
        for (unsigned part = 0; part < count; ++part) {
          for (auto& value :
               count == 4 ? one.row<std::uint32_t>(1, part) : one.row<std::uint32_t>(1 + part)) {
            value = static_cast<std::uint32_t>(interesting_float(f32, random));
          }
        }
        one.run();
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          for (unsigned part = 0; part < count; ++part) {
            const auto bits = count == 4 ? one.row<std::uint32_t>(1, part)[lane]
                                         : one.row<std::uint32_t>(1 + part)[lane];
            const unsigned shift = (count - 1 - part) * stride_of(to);
            const std::uint64_t got = get(one, 0, lane) >> shift & ((1u << stride_of(to)) - 1);
            const Number number = unpack(bits, f32);
            end.toward = Toward::zero;
            const std::uint64_t low = pack(number, kind, end);
            end.toward = number.negative ? Toward::down : Toward::up;
            const std::uint64_t high = pack(number, kind, end);
            if (draw == 0 && low != kind.top && low != (kind.top | kind.sign())) {
              EXPECT_EQ(got, low) << form->key << std::hex << " " << bits;
            } else {
              EXPECT_TRUE(got == low || got == high) << form->key << std::hex << " " << bits;
            }
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace cudacore::simulator
