// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>

#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

bool is_identifier_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether a text reads a variable, other than in the way of `allowed`.
bool reads(const std::string& text, const std::string& variable, const std::string& allowed = {}) {
  for (std::size_t at = text.find(variable); at != std::string::npos;
       at = text.find(variable, at + 1)) {
    const std::size_t end = at + variable.size();
    if ((at > 0 && is_identifier_char(text[at - 1])) ||
        (end < text.size() && is_identifier_char(text[end])))
      continue;
    if (allowed.empty() || text.compare(at, allowed.size(), allowed) != 0) return true;
  }
  return false;
}

std::string assigned(const Value& to, const std::string& variable, const std::string& value) {
  if (!to.type.is_tile()) return variable + " = " + value + ";";
  return "TILE_EACH(r, " + std::to_string(to.layout.register_count()) + ") " + variable +
         "[r] = " + value + ";";
}

// Assigns operands to values as if at once.
void assign(Printer& printer, const std::vector<Operand>& operands,
            const std::vector<Value*>& values) {
  Writer& out = printer.out();
  struct Change {
    const Value* to = nullptr;
    std::string variable;
    std::string text;
  };
  std::vector<Change> changes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (values[i]->shared) continue;
    const std::string variable = Printer::name(*values[i]);
    const std::string text = printer.element(operands[i], "r");
    if (text != variable && text != variable + "[r]")
      changes.push_back({values[i], variable, text});
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Change& change = changes[i];
    bool waits = false;
    for (std::size_t j = 0; j < changes.size(); ++j)
      waits = waits || reads(change.text, changes[j].variable,
                             i == j && change.to->type.is_tile() ? change.variable + "[r]"
                             : i == j                            ? change.variable
                                                                 : "");
    if (!waits) continue;
    const std::string kept = printer.fresh(change.variable);
    const std::string type(name(change.to->type.element));
    const std::string star = change.to->type.pointer ? "* " : " ";
    out.line(type + star + kept +
             (change.to->type.is_tile()
                  ? "[" + std::to_string(change.to->layout.register_count()) + "];"
                  : ";"));
    out.line(assigned(*change.to, kept, change.text));
    change.text = change.to->type.is_tile() ? kept + "[r]" : kept;
  }
  for (const Change& change : changes) out.line(assigned(*change.to, change.variable, change.text));
}

std::vector<Value*> carried(const Operation& loop) {
  const std::vector<Value*>& arguments = loop.region(0).arguments;
  return {arguments.begin() + (loop.is("for") ? 1 : 0), arguments.end()};
}

std::optional<std::int64_t> known(const Operand& operand) {
  if (operand.value == nullptr) return operand.literal;
  const Operation* const source = operand.value->source;
  if (source == nullptr || !source->is("const")) return std::nullopt;
  return source->integer("value");
}

// Whether the loop's variable may not reach its end without an overflow.
bool may_overflow(const Operation& loop) {
  const std::optional<std::int64_t> end = known(loop.operands[1]);
  const std::optional<std::int64_t> step = known(loop.operands[2]);
  if (step == 1) return false;
  if (!end || !step) return true;
  const Element element = loop.region(0).arguments[0]->type.element;
  const int magnitude = bits(element) - (is_signed(element) ? 1 : 0);
  const std::int64_t greatest = magnitude >= 63 ? std::numeric_limits<std::int64_t>::max()
                                                : (std::int64_t{1} << magnitude) - 1;
  return *end > greatest - *step + 1;
}

void print_for(Printer& printer, const Operation& loop) {
  const Value& index = *loop.region(0).arguments[0];
  const std::string type(name(index.type.element));
  const std::string variable = Printer::name(index);
  const std::string end = printer.scalar(loop.operands[1]);
  const std::string step = printer.scalar(loop.operands[2]);
  const std::string begin = type + " " + variable + " = " + printer.scalar(loop.operands[0]) + ";";
  const std::string next = variable + " += " + step;
  Writer& out = printer.out();
  if (!may_overflow(loop))
    return out.open("for (" + begin + " " + variable + " < " + end + "; " + next + ")");
  // The variable is compared before it grows, which takes no more instructions a turn, and lets the
  // compiler unroll the loop. Nothing reads what it is after the last turn.
  const std::string last = printer.fresh(variable + "_last");
  const std::string more = printer.fresh(variable + "_more");
  out.line(begin);
  out.line(type + " " + last + " = last_turn<" + type + ">(" + end + ", " + step + ");");
  out.open("for (bool " + more + " = " + variable + " < " + end + "; " + more + "; " + more +
           " = " + variable + " < " + last + ", " + next + ")");
}

void print_loop(Printer& printer, const Operation& operation) {
  const std::vector<Value*> values = carried(operation);
  for (const Value* const value : values)
    if (!value->shared) printer.declare(*value);
  assign(printer, operation.group("iter"), values);
  if (operation.is("for"))
    print_for(printer, operation);
  else
    printer.out().open("for (;;)");
  printer.inner(operation, operation.region(0));
  printer.out().close();
}

void print_if(Printer& printer, const Operation& operation) {
  for (const Value* const result : operation.results)
    if (!result->shared) printer.declare(*result);
  printer.out().open("if (" + printer.scalar(operation.operands[0]) + ")");
  printer.inner(operation, operation.region(0));
  if (operation.regions.size() > 1 && !operation.region(1).operations.empty()) {
    printer.out().close("} else {");
    printer.out().open_again();
    printer.inner(operation, operation.region(1));
  }
  printer.out().close();
}

}  // namespace

void print_control(Printer& printer, const Operation& operation) {
  if (operation.is("for") || operation.is("loop")) return print_loop(printer, operation);
  if (operation.is("if")) return print_if(printer, operation);
  if (operation.is("return")) {
    printer.out().line("return;");
    return;
  }
  const std::vector<const Operation*>& owners = printer.owners();
  if (operation.is("yield")) return assign(printer, operation.operands, owners.back()->results);
  const auto loop = std::find_if(owners.rbegin(), owners.rend(),
                                 [](const Operation* owner) { return !owner->is("if"); });
  assign(printer, operation.operands, carried(**loop));
  if (operation.is("break"))
    printer.out().line("break;");
  else if (loop != owners.rbegin())
    printer.out().line("continue;");
}

}  // namespace cudacore::tile
