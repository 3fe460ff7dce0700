// SPDX-License-Identifier: Apache-2.0
#include "tile/divisors.hpp"

#include <cstdlib>
#include <limits>
#include <numeric>

namespace cudacore::tile {
namespace {

std::int64_t magnitude(std::int64_t number) {
  return number == std::numeric_limits<std::int64_t>::min() ? 1 : std::abs(number);
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t enough = std::int64_t{1} << 30;
  return a >= enough || b >= enough ? std::gcd(a, b) : a * b;
}

// What divides a result that arithmetic wraps around: the powers of two alone survive that, but a
// wrapped index is an error of the user's anyway, and other divisors serve no one.
std::int64_t power_of_two(std::int64_t number) { return number & -number; }

std::int64_t divisor_of(const Operation& operation) {
  const auto of = [&](std::size_t i) { return divisor(operation.operands[i]); };
  if (operation.is("const")) {
    const auto* const number = std::get_if<std::int64_t>(&operation.attribute("value")->value);
    return number == nullptr ? 1 : magnitude(*number);
  }
  if (operation.result()->type.pointer && operation.is("add"))
    return std::gcd(of(0), product(of(1), bytes(operation.result()->type.element)));
  if (operation.is("add") || operation.is("sub") || operation.is("min") || operation.is("max") ||
      operation.is("or") || operation.is("xor"))
    return std::gcd(of(0), of(1));
  if (operation.is("mul")) return product(of(0), of(1));
  if (operation.is("and")) {
    const std::int64_t a = power_of_two(of(0));
    const std::int64_t b = power_of_two(of(1));
    return a == 0 || b == 0 ? 0 : std::max(a, b);
  }
  if (operation.is("mod")) return std::gcd(of(0), of(1));
  if (operation.is("shl")) {
    const Value* const amount = operation.operands[1].value;
    const Operation* const source = amount == nullptr ? nullptr : amount->source;
    if (source == nullptr || !source->is("const")) return of(0);
    const std::int64_t bits = source->integer("value");
    return bits >= 0 && bits < 30 ? product(of(0), std::int64_t{1} << bits) : of(0);
  }
  if (operation.is("select")) return std::gcd(of(1), of(2));
  if (operation.is("cast") || operation.is("neg") || operation.is("abs") || operation.is("bitcast"))
    return is_integer(operation.operand(0)->type.element) || operation.operand(0)->type.pointer
               ? of(0)
               : 1;
  if (operation.is("broadcast") || operation.is("reshape")) return of(0);
  if (operation.is("assume_div"))
    return std::lcm(std::min(power_of_two(of(0)), std::int64_t{1} << 30),
                    std::max(std::int64_t{1}, operation.integer("by", 1)));
  return 1;
}

void walk(Region& region) {
  for (const std::unique_ptr<Operation>& operation : region.operations) {
    for (const std::unique_ptr<Region>& inner : operation->regions) {
      if (operation->is("for"))
        inner->arguments[0]->divisor =
            std::gcd(divisor(operation->operands[0]), divisor(operation->operands[2]));
      walk(*inner);
    }
    for (Value* const result : operation->results)
      if (operation->regions.empty() && (is_integer(result->type.element) || result->type.pointer))
        result->divisor = divisor_of(*operation);
  }
}

}  // namespace

std::int64_t divisor(const Operand& operand) {
  return operand.value == nullptr ? magnitude(operand.literal) : operand.value->divisor;
}

void find_divisors(Kernel& kernel) { walk(kernel.body); }

}  // namespace cudacore::tile
