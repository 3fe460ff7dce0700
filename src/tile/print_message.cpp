// SPDX-License-Identifier: Apache-2.0
#include "tile/literal.hpp"
#include "tile/operations.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

// The C format of a number, and how the number is passed.
struct Number {
  std::string format;
  std::string cast;
};

Number number_of(Element element, const std::string& wanted) {
  if (is_float(element)) return {wanted.empty() ? "%f" : wanted, "f64"};
  if (element == Element::i1) return {wanted.empty() ? "%d" : wanted, "i32"};
  const bool wide = bits(element) == 64;
  if (!wanted.empty()) {
    // The specification's last letter says how the number looks; its length is the type's.
    std::string format = wanted;
    const char last = format.empty() ? 'd' : format.back();
    const bool is_real = std::string("eEfFgGaA").find(last) != std::string::npos;
    if (is_real) return {format, "f64"};
    if (wide && format.find('l') == std::string::npos) format.insert(format.size() - 1, "ll");
    return {format,
            wide ? (is_signed(element) ? "i64" : "u64") : (is_signed(element) ? "i32" : "u32")};
  }
  if (is_signed(element)) return wide ? Number{"%lld", "i64"} : Number{"%d", "i32"};
  return wide ? Number{"%llu", "u64"} : Number{"%u", "u32"};
}

std::string passed(Element element, const Number& number, const std::string& value) {
  return number.cast + (is_small_float(element) ? "(f32(" + value + "))" : "(" + value + ")");
}

std::string escaped_percent(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

void print_text(Printer& printer, const std::string& text) {
  if (!text.empty())
    printer.out().line("if (tid == 0) printf(" + quoted(escaped_percent(text)) + ");");
}

// One thread prints all elements, which it reads from shared memory.
void print_tile(Printer& printer, const Operation& operation, const Value& tile,
                const std::string& wanted) {
  const Element element = tile.type.element;
  const std::string memory = Printer::shared(element, operation.scratch_offset);
  const std::string array = printer.array(tile);
  Writer& out = printer.out();
  const std::string replica = Printer::is_first_replica(tile.layout);
  const std::string index = Printer::thread_part(tile.layout.lanes, tile.layout.warps) + " + " +
                            Printer::register_part(tile.layout.registers, "r");
  out.line("__syncthreads();");
  out.line((replica.empty() ? "" : "if (" + replica + ") ") + "TILE_EACH(r, " +
           std::to_string(tile.layout.register_count()) + ") " + memory + "[" + index +
           "] = " + array + "[r];");
  out.line("__syncthreads();");
  const Number number = number_of(element, wanted);
  out.open("if (tid == 0) for (int i = 0; i < " + std::to_string(tile.type.size()) + "; ++i)");
  // Brackets open and close where a row, or more, begins and ends.
  out.line("if (i > 0) printf(\", \");");
  std::int64_t size = 1;
  std::vector<std::int64_t> sizes;
  for (std::size_t axis = tile.type.shape.size(); axis-- > 0;)
    sizes.push_back(size *= tile.type.shape[axis]);
  for (const std::int64_t each : sizes)
    out.line("if (i % " + std::to_string(each) + " == 0) printf(\"[\");");
  out.line("printf(" + quoted(number.format) + ", " + passed(element, number, memory + "[i]") +
           ");");
  for (const std::int64_t each : sizes)
    out.line("if ((i + 1) % " + std::to_string(each) + " == 0) printf(\"]\");");
  out.close();
  out.line("__syncthreads();");
}

void print_operand(Printer& printer, const Operation& operation, const Operand& operand,
                   const std::string& wanted) {
  if (operand.value != nullptr && operand.value->type.is_tile())
    return print_tile(printer, operation, *operand.value, wanted);
  const Element element = operand.value == nullptr ? Element::i32 : operand.value->type.element;
  const Number number = number_of(element, wanted);
  printer.out().line("if (tid == 0) printf(" + quoted(number.format) + ", " +
                     passed(element, number, printer.scalar(operand)) + ");");
}

// Scalars alone are printed at once, so that lines of different blocks do not mix.
void print_scalars(Printer& printer, const Operation& operation,
                   const std::vector<std::string>& texts,
                   const std::vector<std::pair<std::size_t, std::string>>& items) {
  std::string format;
  std::string arguments;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    format += escaped_percent(texts[i]);
    if (i >= items.size()) continue;
    const Operand& operand = operation.operands[items[i].first];
    const Element element = operand.value == nullptr ? Element::i32 : operand.value->type.element;
    const Number number = number_of(element, items[i].second);
    format += number.format;
    arguments += ", " + passed(element, number, printer.scalar(operand));
  }
  printer.out().line("if (tid == 0) printf(" + quoted(format) + arguments + ");");
}

void print_print(Printer& printer, const Operation& operation) {
  // %0, %1, ... stand for operands, each perhaps with a colon and a C specification.
  const std::string format = operation.word("format");
  std::vector<std::string> texts(1);
  std::vector<std::pair<std::size_t, std::string>> items;
  bool has_tile = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      texts.back() += format[i];
      continue;
    }
    if (format[i + 1] == '%') {
      texts.back() += format[++i];
      continue;
    }
    std::size_t number = 0;
    std::size_t at = i + 1;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9' && number < 100000)
      number = number * 10 + static_cast<std::size_t>(format[at++] - '0');
    if (at == i + 1) {
      texts.back() += format[i];
      continue;
    }
    if (number >= operation.operands.size())
      throw printer.error(operation, "the format refers to value " + std::to_string(number) +
                                         ", but there are " +
                                         std::to_string(operation.operands.size()));
    std::string wanted;
    if (at < format.size() && format[at] == ':') {
      const std::size_t end = format.find_first_of("diuoxXeEfFgGaA", at);
      if (end == std::string::npos)
        throw printer.error(operation, "a specification without its letter");
      wanted = format.substr(at + 1, end - at);
      if (wanted.front() != '%') wanted = "%" + wanted;
      at = end + 1;
    }
    const Operand& operand = operation.operands[number];
    has_tile = has_tile || (operand.value != nullptr && operand.value->type.is_tile());
    items.emplace_back(number, wanted);
    texts.emplace_back();
    i = at - 1;
  }
  if (!has_tile) return print_scalars(printer, operation, texts, items);
  printer.need("print.cuh");
  printer.out().line("begin_print();");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    print_text(printer, texts[i]);
    if (i < items.size())
      print_operand(printer, operation, operation.operands[items[i].first], items[i].second);
  }
  printer.out().line("end_print();");
}

void print_assert(Printer& printer, const Operation& operation) {
  const Operand& condition = operation.operands[0];
  std::string message = operation.word("message", "");
  std::string text = "Assertion failed" + (message.empty() ? "" : ": " + message) + "\n";
  Writer& out = printer.out();
  if (condition.value == nullptr || !condition.value->type.is_tile()) {
    out.open("if (!" + printer.scalar(condition) + ")");
  } else {
    const std::string count = std::to_string(condition.value->layout.register_count());
    const std::string all = printer.fresh("all");
    const std::string element = printer.element(condition, "r");
    out.line("bool " + all + " = true;");
    out.line("TILE_EACH(r, " + count + ") " + all + " = " + all + " && " + element + ";");
    out.open("if (__syncthreads_or(!" + all + "))");
  }
  // One thread speaks for all, and none ends the kernel before that. The driver prints the place,
  // which #line makes that of Python, and reports an assertion rather than any failure.
  out.open("if (tid == 0)");
  out.line("printf(" + quoted(escaped_percent(text)) + ");");
  out.line("__assertfail(" + quoted(message.empty() ? "condition" : message) +
           ", __FILE__, __LINE__, __func__, 1);");
  out.close();
  out.line("__syncthreads();");
  out.line("__trap();");
  out.close();
}

}  // namespace

void print_message(Printer& printer, const Operation& operation) {
  printer.barrier(operation, 0);
  if (operation.is("print")) return print_print(printer, operation);
  print_assert(printer, operation);
}

}  // namespace cudacore::tile
