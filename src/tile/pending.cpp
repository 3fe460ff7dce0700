// SPDX-License-Identifier: Apache-2.0
#include "tile/printer.hpp"
namespace cudacore::tile {
namespace {
[[noreturn]] void later(const Printer& printer, const Operation& operation) {
  throw printer.error(operation, "'" + operation.name + "' is not generated yet");
}
}  // namespace
void print_atomic(Printer& printer, const Operation& operation) { later(printer, operation); }
void print_reduce(Printer& printer, const Operation& operation) { later(printer, operation); }
void print_scan(Printer& printer, const Operation& operation) { later(printer, operation); }
void print_convert(Printer& printer, const Operation& operation) { later(printer, operation); }
void print_block(Printer& printer, const Operation& operation) { later(printer, operation); }
void print_control(Printer& printer, const Operation& operation) {
  if (!operation.is("return")) later(printer, operation);
  printer.out().line("return;");
}
void print_message(Printer& printer, const Operation& operation) { later(printer, operation); }
}  // namespace cudacore::tile
