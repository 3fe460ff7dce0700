// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tile/operations.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

constexpr int group = 8;  // quotients that are checked together

// What all elements of a tile are, if that is a constant.
const Operation* filling(const Operation& source) {
  if (source.is("const")) return &source;
  const Value* const filler = source.is("broadcast") ? source.operand(0) : nullptr;
  return filler != nullptr && !filler->type.is_tile() && filler->source != nullptr &&
                 filler->source->is("const")
             ? filler->source
             : nullptr;
}

bool is_power_of_two(const Operation& constant) {
  const Attribute* const attribute = constant.attribute("value");
  double value = 0;
  if (const auto* const real = std::get_if<double>(&attribute->value)) value = *real;
  if (const auto* const integer = std::get_if<std::int64_t>(&attribute->value))
    value = static_cast<double>(*integer);
  int exponent = 0;
  return std::fabs(std::frexp(value, &exponent)) == 0.5;
}

}  // namespace

bool print_quotient(Printer& printer, const Operation& operation) {
  if (!operation.is("div")) return false;
  const Value& result = *operation.result();
  const Value* const divisor = operation.operand(1);
  if (result.type.element != Element::f32 || !result.type.is_tile() ||
      operation.word("rm", "rn") != "rn" || operation.integer("ftz") != 0 ||
      divisor->source == nullptr)
    return false;
  const Operation& source = *divisor->source;
  const Operation* const constant = filling(source);
  if (constant != nullptr ? is_power_of_two(*constant) : !source.is("broadcast")) return false;
  const Operand row = constant == nullptr ? source.operands[0] : Operand{constant->result(), 0};
  const bool has_rows = constant == nullptr && row.value != nullptr && row.value->type.is_tile();
  const int rows = has_rows ? row.value->layout.register_count() : 1;
  const int count = result.layout.register_count();
  if (count < group || count < 4 * rows) return false;
  std::vector<int> places;  // for each bit of the result's register: that of the divisor's
  if (has_rows) {
    const std::vector<int> map = broadcast_bits(result.type, row.value->type);
    for (const int bit : result.layout.registers) {
      const int own = map[static_cast<std::size_t>(bit)];
      places.push_back(own < 0 ? -1 : row.value->layout.register_of(own));
    }
  }
  printer.need("quotient.cuh");
  const std::string divisors = printer.fresh("divisor");
  const std::string name = Printer::name(result);
  const std::string number = "(g * " + std::to_string(group) + " + k)";
  const std::string each = "TILE_EACH(k, " + std::to_string(group) + ") ";
  const std::string dividend = printer.element(operation.operands[0], number);
  const std::string by = divisors + "[" + Printer::register_part(places, number) + "]";
  Writer& out = printer.out();
  out.line("Divisor " + divisors + "[" + std::to_string(rows) + "];");
  out.line("TILE_EACH(o, " + std::to_string(rows) + ") " + divisors + "[o] = Divisor(" +
           printer.element(row, "o") + ");");
  printer.declare(result);
  const std::string size = "[" + std::to_string(group) + "]";
  out.open("TILE_EACH(g, " + std::to_string(count / group) + ")");
  out.line("f32 dividend" + size + ", quotient" + size + ";");
  out.line("bool right = true;");
  out.open("TILE_EACH(k, " + std::to_string(group) + ")");
  out.line("dividend[k] = " + dividend + ";");
  out.line("quotient[k] = " + by + ".quotient(dividend[k]);");
  out.line("right &= " + by + ".is_right(quotient[k]);");
  out.close();
  out.open("if (!right)");
  // Zeros are right but seldom, so they are looked for last.
  out.line("right = true;");
  out.line(each + "right &= " + by + ".is_right(dividend[k], quotient[k]);");
  out.open("if (!right)");
  const bool is_one = Printer::register_part(places, number) == "0";
  if (!is_one) {
    out.line("f32 by" + size + ";");
    out.line(each + "by[k] = " + by + ".divisor;");
  }
  out.line("divide_again(quotient, dividend, " + (is_one ? by + ".divisor" : "by") + ");");
  out.close();
  out.close();
  out.line(each + name + "[" + number + "] = quotient[k];");
  out.close();
  return true;
}

}  // namespace cudacore::tile
