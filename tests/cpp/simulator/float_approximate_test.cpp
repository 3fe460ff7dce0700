// SPDX-License-Identifier: Apache-2.0
//
// The .approx and .full forms: accuracy compared with the bounds in PTX, and special values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "simulator/float_ops_test_support.hpp"

namespace cudacore::simulator {
namespace {

using namespace testing;

double value_of(std::uint64_t bits, const FloatKind& kind, bool flush) {
  const Number number = unpack(bits, kind, flush);
  if (number.is_nan()) return std::numeric_limits<double>::quiet_NaN();
  const double size = number.is_infinite()
                          ? std::numeric_limits<double>::infinity()
                          : std::ldexp(static_cast<double>(number.magnitude), number.exponent);
  return number.negative ? -size : size;
}

double exact(const std::string& name, double a, double b) {
  if (name == "rcp") return 1.0 / a;
  if (name == "sqrt") return std::sqrt(a);
  if (name == "rsqrt") return 1.0 / std::sqrt(a);
  if (name == "sin") return std::sin(a);
  if (name == "cos") return std::cos(a);
  if (name == "lg2") return std::log2(a);
  if (name == "ex2") return std::exp2(a);
  if (name == "tanh") return std::tanh(a);
  return a / b;
}

/// How far a result may be from the exact value.
double bound(const FloatOpcode& opcode, const std::string& element, double a, double want) {
  const std::string& name = opcode.name();
  if (element == "f16") return std::max(std::abs(want) * 0x1p-9, 0x1p-24);
  if (element == "bf16") return std::max(std::abs(want) * 0x1p-7, 0x1p-133);
  if (element == "f64") return std::abs(want) * (opcode.has("ftz") ? 0x1p-19 : 0x1p-51);
  if (name == "sin" || name == "cos") {
    const double turn = 6.2831853071795862;
    return std::abs(a) <= turn ? 0x1.6ap-21 : std::abs(a) <= 50 * turn ? 0x1.3ap-15 : 2.0;
  }
  if (name == "lg2" && a > 0.5 && a < 2.0) return 0x1p-22;
  if (name == "tanh") return std::abs(want) * 0x1p-11 + 0x1p-149;
  return std::max(std::abs(want) * 0x1p-22, 0x1p-149);
}

void check_approximate(const Form& form, std::mt19937_64& random) {
  const FloatOpcode opcode(form.key);
  const auto [element, count] = element_of(opcode.type());
  const FloatKind& kind = *float_kind(element);
  const bool flush = opcode.has("ftz");
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - kind.bits);
  OneInstruction one(form);
  for (unsigned round = 0; round < 200; ++round) {
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      for (std::size_t i = 1; i < one.operands().size(); ++i) {
        set(one, i, lane, interesting_value(opcode.type(), random));
      }
    }
    one.run();
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      for (unsigned part = 0; part < count; ++part) {
        const unsigned shift = part * kind.bits % 64;
        const std::uint64_t a_bits = get(one, 1, lane) >> shift & mask;
        const std::uint64_t b_bits =
            one.operands().size() > 2 ? get(one, 2, lane) >> shift & mask : 0;
        const std::uint64_t got_bits = get(one, 0, lane) >> shift & mask;
        // For double precision with .ftz, only the upper half is compared.
        const bool upper = element == "f64" && flush;
        const double a = value_of(upper ? a_bits >> 32 << 32 : a_bits, kind, flush);
        double b = value_of(b_bits, kind, flush);
        const double got = value_of(got_bits, kind, false);
        if (opcode.name() == "div" && opcode.has("approx") && std::abs(b) > 0x1p126) {
          b = std::copysign(std::numeric_limits<double>::infinity(), b);
        }
        double want = exact(opcode.name(), a, b);
        const double least = std::ldexp(1.0, 1 - kind.bias);
        const double most = value_of(kind.top, kind, false);
        if (flush && std::abs(want) < least) want = std::copysign(0.0, want);
        const auto where = ::testing::Message() << form.key << std::hex << " " << a_bits << " "
                                                << b_bits << " gave " << got_bits;
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got)) << where;
        } else if (std::abs(want) >= most) {
          ASSERT_EQ(std::signbit(got), std::signbit(want)) << where;
          ASSERT_GE(std::abs(got), most * 0.99) << where;
          if (std::isinf(want)) {
            ASSERT_TRUE(std::isinf(got)) << where;
          }
        } else {
          const double near_least = flush && std::abs(want) < 2 * least ? least : 0.0;
          ASSERT_LE(std::abs(got - want), bound(opcode, element, a, want) + near_least)
              << where << " for " << want;
          if (want == 0) {
            ASSERT_EQ(std::signbit(got), std::signbit(want)) << where;
          }
        }
      }
    }
  }
}

TEST(FloatApproximate, StaysWithinBounds) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_float_approximate<I>(table); });
    std::mt19937_64 random(23);
    for (const Form* form : table.all()) {
      check_approximate(*form, random);
      if (HasFatalFailure()) return;
    }
  });
}

/// The same bits on every processor.
TEST(FloatApproximate, IsTheSameOnEveryIsa) {
  FormTable first;
  add_float_approximate<Isa::baseline>(first);
  for_each_isa([&first](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_float_approximate<I>(table); });
    std::mt19937_64 random(24);
    for (const Form* form : table.all()) {
      for (const Form& other : first.find(form->key)) {
        OneInstruction one(*form);
        OneInstruction two(other);
        for (unsigned round = 0; round < 100; ++round) {
          for (unsigned lane = 0; lane < warp_size; ++lane) {
            for (std::size_t i = 1; i < one.operands().size(); ++i) {
              const std::uint64_t value = interesting_value(FloatOpcode(form->key).type(), random);
              set(one, i, lane, value);
              set(two, i, lane, value);
            }
          }
          const auto lanes = round % 2 == 0 ? all_lanes : static_cast<std::uint32_t>(random());
          one.run(lanes);
          two.run(lanes);
          for (unsigned lane = 0; lane < warp_size; ++lane) {
            ASSERT_EQ(get(one, 0, lane), get(two, 0, lane)) << form->key;
          }
        }
      }
    }
  });
}

float single(std::string_view key, float a) {
  OneInstruction one(Isa::baseline, key, "ww");
  one.row<float>(1).fill(a);
  one.run();
  return one.row<float>(0)[0];
}

TEST(FloatApproximate, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(single("lg2.approx.f32", 0.0f), -infinity);
  EXPECT_EQ(single("lg2.approx.f32", infinity), infinity);
  EXPECT_EQ(single("lg2.approx.f32", 8.0f), 3.0f);
  EXPECT_EQ(single("lg2.approx.f32", 0x1p-149f), -149.0f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(single("lg2.approx.f32", -1.0f)), 0x7fffffffu);
  EXPECT_EQ(single("ex2.approx.f32", -infinity), 0.0f);
  EXPECT_EQ(single("ex2.approx.f32", infinity), infinity);
  EXPECT_EQ(single("ex2.approx.f32", -149.0f), 0x1p-149f);
  EXPECT_EQ(single("ex2.approx.ftz.f32", -127.0f), 0.0f);
  EXPECT_EQ(single("rcp.approx.f32", -0.0f), -infinity);
  EXPECT_EQ(single("rsqrt.approx.f32", -0.0f), -infinity);
  EXPECT_EQ(single("cos.approx.f32", 0.0f), 1.0f);
  EXPECT_TRUE(std::signbit(single("sin.approx.f32", -0.0f)));
  EXPECT_TRUE(std::isnan(single("sin.approx.f32", infinity)));
  EXPECT_EQ(single("tanh.approx.f32", -infinity), -1.0f);
}

}  // namespace
}  // namespace cudacore::simulator
