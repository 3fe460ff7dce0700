// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and comparisons in single, double and half precision, compared with exact arithmetic.
#include <gtest/gtest.h>

#include "simulator/float_ops_test_support.hpp"

namespace cudacore::simulator {
namespace {

using namespace testing;

/// Double precision passes on its operands' NaNs; the others have only one NaN.
std::uint64_t finish(const Number& result, const FloatKind& kind, const Ending& end,
                     std::initializer_list<std::uint64_t> operands) {
  if (result.is_nan() && kind.name == "f64") {
    for (const std::uint64_t bits : operands) {
      if (unpack(bits, kind).is_nan()) return bits | std::uint64_t{1} << 51;
    }
  }
  return pack(result, kind, end);
}

std::uint64_t select(const FloatOpcode& opcode, const FloatKind& kind, std::uint64_t a,
                     std::uint64_t b) {
  const bool flush = opcode.has("ftz");
  const std::uint64_t sign = opcode.has("xorsign") ? (a ^ b) & kind.sign() : 0;
  if (opcode.has("abs")) {
    a &= kind.sign() - 1;
    b &= kind.sign() - 1;
  }
  const Number x = unpack(a, kind, flush);
  const Number y = unpack(b, kind, flush);
  if (kind.name == "f64" && x.is_nan() && y.is_nan()) return b | std::uint64_t{1} << 51;
  if (x.is_nan() && y.is_nan()) return kind.nan;
  if (opcode.has("NaN") && (x.is_nan() || y.is_nan())) return kind.nan;
  bool first = !x.is_nan();
  if (const auto sides = order(x, y)) {
    const bool less = *sides < 0 || (*sides == 0 && x.negative);
    first = (opcode.name() == "min") == less;
  }
  return pack(first ? x : y, kind, {}) | sign;
}

std::optional<std::uint64_t> arithmetic(const FloatOpcode& opcode, const FloatKind& kind,
                                        const std::vector<std::uint64_t>& in,
                                        const std::vector<const FloatKind*>& kinds) {
  const std::string& name = opcode.name();
  const Ending end = opcode.ending();
  std::vector<Number> n;
  for (std::size_t i = 0; i < in.size(); ++i) n.push_back(unpack(in[i], *kinds[i], end.flush));
  if (name == "add") return finish(sum(n[0], n[1], end.toward), kind, end, {in[1], in[0]});
  if (name == "sub") {
    n[1].negative = !n[1].negative;
    return finish(sum(n[0], n[1], end.toward), kind, end, {in[1], in[0]});
  }
  if (name == "mul") return finish(product(n[0], n[1]), kind, end, {in[1], in[0]});
  if (name == "div") return finish(quotient(n[0], n[1]), kind, end, {in[0], in[1]});
  if (name == "sqrt") return finish(square_root(n[0]), kind, end, {in[0]});
  if (name == "rcp") {
    Number one;
    one.magnitude = 1;
    return finish(quotient(one, n[0]), kind, end, {in[0]});
  }
  const auto out_of_bounds = [](std::uint64_t bits) { return (bits & 0x7fff) == 0x7ff7; };
  if (opcode.has("oob") && (out_of_bounds(in[0]) || out_of_bounds(in[1]))) return 0;
  if (name == "fma" || name == "mad") {
    return finish(sum(product(n[0], n[1]), n[2], end.toward), kind, end, {in[1], in[2], in[0]});
  }
  if (name == "min" || name == "max") {
    const std::uint64_t two = select(opcode, kind, in[0], in[1]);
    return in.size() < 3 ? two : select(opcode, kind, two, in[2]);
  }
  if (name == "neg" || name == "abs") {
    if (name == "neg") n[0].negative = !n[0].negative;
    if (name == "abs") n[0].negative = false;
    return finish(n[0], kind, {.flush = end.flush}, {in[0]});
  }
  if (name == "copysign") return (in[0] & kind.sign()) | (in[1] & (kind.sign() - 1));
  if (name == "testp") {
    const Number x = unpack(in[0], kind);
    const bool finite = !x.is_nan() && !x.is_infinite();
    const bool small = finite && x.magnitude >> kind.mantissa == 0 && x.magnitude != 0;
    if (opcode.has("finite")) return finite;
    if (opcode.has("infinite")) return x.is_infinite();
    if (opcode.has("number")) return !x.is_nan();
    if (opcode.has("notanumber")) return x.is_nan();
    if (opcode.has("normal")) return finite && !small;
    if (opcode.has("subnormal")) return small;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> expected_arithmetic(const FloatOpcode& opcode, const Form& form,
                                                 const Inputs& inputs) {
  const auto [element, count] = element_of(opcode.type());
  const FloatKind* kind = float_kind(element);
  if (kind == nullptr) return std::nullopt;
  const std::vector<Operand> operands = operands_of(form.signature);
  const bool mixed = opcode.parts[opcode.parts.size() - 2] == "f32" && kind->bits == 16;
  const FloatKind* result_kind = mixed ? float_kind("f32") : kind;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - kind->bits);
  std::uint64_t result = 0;
  for (unsigned part = 0; part < count; ++part) {
    std::vector<std::uint64_t> in;
    std::vector<const FloatKind*> kinds;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const bool wide = mixed && operands[i].kind == 'w';
      kinds.push_back(wide ? result_kind : kind);
      in.push_back(wide ? inputs[i] : inputs[i] >> (part * kind->bits % 64) & mask);
    }
    const auto one = arithmetic(opcode, *result_kind, in, kinds);
    if (!one) return std::nullopt;
    result |= *one << (part * kind->bits % 64);
  }
  return result;
}

std::optional<bool> compare(const std::string& how, const Number& a, const Number& b) {
  const auto sides = order(a, b);
  if (how == "num") return sides.has_value();
  if (how == "nan") return !sides.has_value();
  const bool unordered = how.size() == 3;
  const std::string base = how.substr(0, 2);
  if (!sides) return unordered;
  if (base == "eq") return *sides == 0;
  if (base == "ne") return *sides != 0;
  if (base == "lt") return *sides < 0;
  if (base == "le") return *sides <= 0;
  if (base == "gt") return *sides > 0;
  if (base == "ge") return *sides >= 0;
  return std::nullopt;
}

std::optional<std::uint64_t> expected_compare(const FloatOpcode& opcode, const Form&,
                                              const Inputs& inputs) {
  const auto [element, count] = element_of(opcode.type());
  const FloatKind* kind = float_kind(element);
  if (kind == nullptr) return std::nullopt;
  const bool predicates = opcode.name() == "setp";
  const std::size_t first = predicates ? 2 : 1;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - kind->bits);
  const auto combined = [&](bool holds) {
    const bool c = inputs.back() != 0;
    if (opcode.has("and")) return holds && c;
    if (opcode.has("or")) return holds || c;
    if (opcode.has("xor")) return holds != c;
    return holds;
  };
  bool holds[2] = {};
  for (unsigned part = 0; part < count; ++part) {
    const unsigned shift = part * kind->bits;
    const auto one =
        compare(opcode.parts[1], unpack(inputs[first] >> shift & mask, *kind, opcode.has("ftz")),
                unpack(inputs[first + 1] >> shift & mask, *kind, opcode.has("ftz")));
    if (!one) return std::nullopt;
    holds[part] = *one;
  }
  if (predicates) {
    const bool second = count == 2 ? holds[1] : !holds[0];
    return static_cast<std::uint64_t>(combined(holds[0])) |
           static_cast<std::uint64_t>(combined(second)) << 1;
  }
  const std::string& to = opcode.parts[opcode.parts.size() - 2];
  const auto [to_element, to_count] = element_of(to);
  const FloatKind* to_kind = float_kind(to_element);
  const bool half = count == 2 || to.ends_with("16");
  const std::uint64_t truth = to_kind != nullptr
                                  ? static_cast<std::uint64_t>(to_kind->bias) << to_kind->mantissa
                                  : (half ? 0xffff : 0xffffffff);
  std::uint64_t result = 0;
  for (unsigned part = 0; part < count; ++part) {
    if (combined(holds[part])) result |= truth << (16 * part);
  }
  return result;
}

TEST(FloatOps, ArithmeticIsExactlyRounded) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() {
      add_float_arithmetic<I>(table);
      add_float_rounded(table);
    });
    check_forms(table, expected_arithmetic, 24);
  });
}

TEST(FloatOps, HalfArithmeticIsExactlyRounded) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_half_arithmetic<I>(table); });
    check_forms(table, expected_arithmetic, 24);
  });
}

TEST(FloatOps, ComparesAsNumbers) {
  for_each_isa([](FormTable& table, Isa isa) {
    with_isa(isa, [&table]<Isa I>() { add_float_compare<I>(table); });
    check_forms(table, expected_compare, 3);
  });
}

}  // namespace
}  // namespace cudacore::simulator
