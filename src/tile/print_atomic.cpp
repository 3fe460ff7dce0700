// SPDX-License-Identifier: Apache-2.0
#include "tile/ordered_functions.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {

void print_atomic(Printer& printer, const Operation& operation) {
  const std::string order = operation.word("mem", "relaxed");
  const bool releases = order == "release" || order == "acq_rel";
  const bool acquires = order == "acquire" || order == "acq_rel";
  const bool swaps = operation.is("atomic_cas");
  const Type& type = operation.operand(2)->type;
  const std::string function = atomic_function(printer, operation, type.element);
  if (releases) printer.out().line("__syncthreads();");
  printer.barrier(operation, releases ? 1 : 0);
  const auto call = [&](const std::string& number) {
    std::string text = function + "(" + printer.scalar(operation.operands[0]) + " + " +
                       printer.element(operation.operands[1], number) + ", " +
                       printer.element(operation.operands[2], number);
    if (swaps) text += ", " + printer.element(operation.operands[3], number);
    return text + ")";
  };
  const auto mask = [&](const std::string& number) {
    return operation.group("mask").empty() ? std::string{}
                                           : printer.element(operation.group("mask")[0], number);
  };
  // One of the threads with the same element does it; others are told what it saw.
  const bool has_result = !operation.results.empty();
  Layout layout;
  if (type.is_tile())
    layout = has_result ? operation.result()->layout : operation.operand(1)->layout;
  const std::string replica = type.is_tile() ? Printer::is_first_replica(layout) : "tid == 0";
  const int count = layout.register_count();
  const std::string groups = type.is_tile() ? "TILE_EACH(r, " + std::to_string(count) + ") " : "";
  const auto both = [](const std::string& a, const std::string& b) {
    return a.empty() ? b : b.empty() ? a : "(" + a + ") && " + b;
  };
  Writer& out = printer.out();
  const std::string condition = both(replica, mask("r"));
  if (!has_result) {
    out.line(groups + (condition.empty() ? "" : "if (" + condition + ") ") + call("r") + ";");
  } else {
    const Value& result = *operation.result();
    const std::string variable = Printer::name(result) + (type.is_tile() ? "[r]" : "");
    printer.declare(result);
    const std::string otherwise = swaps ? printer.element(operation.operands[2], "r") : "{}";
    if (condition.empty())
      out.line(groups + variable + " = " + call("r") + ";");
    else
      out.line(groups + "{ if (" + condition + ") " + variable + " = " + call("r") + "; else " +
               variable + " = " + otherwise + "; }");
    if (!replica.empty() && printer.uses(result) > 0) {
      const std::string memory = Printer::shared(type.element, operation.scratch_offset);
      const std::string thread =
          type.is_tile() ? Printer::thread_part(layout.lanes, layout.warps) : "0";
      const std::string place =
          memory + "[" + thread +
          (type.is_tile() ? " + " + Printer::register_part(layout.registers, "r") : "") + "]";
      printer.barrier(operation, releases ? 2 : 1);
      out.line("if (" + replica + ") " + groups + place + " = " + variable + ";");
      printer.barrier(operation, releases ? 3 : 2);
      out.line(groups + variable + " = " + place + ";");
    }
  }
  if (acquires) out.line("__syncthreads();");
}

}  // namespace cudacore::tile
