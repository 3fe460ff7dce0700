// SPDX-License-Identifier: Apache-2.0
#include "tile/combine_function.hpp"

#include "tile/operations.hpp"

namespace cudacore::tile {
CombineFunction::CombineFunction(Printer& printer, const Operation& operation)
    : name_(printer.fresh("combine")), commutative_(commutes(operation)) {
  const Region& region = operation.region(0);
  const std::size_t count = operation.operands.size();
  std::string head = "const auto " + name_ + " = [&](";
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const Value& argument = *region.arguments[i];
    head += (i == 0 ? "" : ", ") + std::string(tile::name(argument.type.element)) +
            (i < count ? "& " : " ") + Printer::name(argument);
  }
  Writer& out = printer.out();
  out.open(head + ")");
  for (const std::unique_ptr<Operation>& inner : region.operations) {
    if (!inner->is("yield")) {
      printer.operation(*inner);
      continue;
    }
    // All are computed before the first changes.
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < count; ++i) {
      kept.push_back(count == 1 ? printer.scalar(inner->operands[i]) : printer.fresh("next"));
      if (count > 1)
        out.line(std::string(tile::name(region.arguments[i]->type.element)) + " " + kept[i] +
                 " = " + printer.scalar(inner->operands[i]) + ";");
    }
    for (std::size_t i = 0; i < count; ++i)
      out.line(Printer::name(*region.arguments[i]) + " = " + kept[i] + ";");
  }
  out.close("};");
}

std::string CombineFunction::call(const std::vector<std::string>& a,
                                  const std::vector<std::string>& b) const {
  std::string text = name_ + "(";
  for (const std::string& each : a) text += each + ", ";
  for (std::size_t i = 0; i < b.size(); ++i) text += b[i] + (i + 1 < b.size() ? ", " : ");");
  return text;
}

}  // namespace cudacore::tile
