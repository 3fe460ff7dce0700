// SPDX-License-Identifier: Apache-2.0
#include "tile/expression.hpp"

#include <unordered_map>

namespace cudacore::tile {
namespace {

std::string spelled(Element element) { return std::string(name(element)); }

std::string call(const std::string& function, const std::vector<std::string>& operands) {
  std::string text = function + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + operands[i];
  return text + ")";
}

// A function of both float and double, of the names that CUDA has for them.
std::string math(std::string_view function, Element element,
                 const std::vector<std::string>& operands) {
  return call(std::string(function) + (element == Element::f64 ? "" : "f"), operands);
}

std::string_view symbol(std::string_view operation) {
  static const std::unordered_map<std::string_view, std::string_view> symbols = {
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"},  {"and", "&"},
      {"or", "|"},  {"xor", "^"}, {"eq", "=="}, {"ne", "!="},  {"lt", "<"},
      {"le", "<="}, {"gt", ">"},  {"ge", ">="}, {"shl", "<<"}, {"shr", ">>"}};
  const auto found = symbols.find(operation);
  return found == symbols.end() ? std::string_view{} : found->second;
}

std::string infix(const Operation& operation, const std::vector<std::string>& operands) {
  return "(" + operands[0] + " " + std::string(symbol(operation.name)) + " " + operands[1] + ")";
}

std::string converted(Element from, Element to, const std::string& value) {
  if (from == to) return value;
  if (to == Element::i1)
    return is_small_float(from) ? "(f32(" + value + ") != 0)" : "(" + value + " != 0)";
  if (!is_small_float(to)) {
    const bool through = is_small_float(from) && to != Element::f32;
    return spelled(to) + (through ? "(f32(" + value + "))" : "(" + value + ")");
  }
  if (from == Element::f32) return spelled(to) + "(" + value + ")";
  if (is_small_float(from) || from == Element::i1 || bits(from) <= 16)
    return spelled(to) + "(f32(" + value + "))";
  return "to<" + spelled(to) + ">(" + value + ")";
}

// Whether numbers of a type of floats are rounded in another.
bool loses(Element from, Element to) {
  if (from == Element::f32 && to == Element::tf32) return true;
  return bits(to) < bits(from) || (from != to && bits(from) == 16 && bits(to) == 16);
}

std::string integer(const Operation& operation, Element element,
                    const std::vector<std::string>& operands) {
  const std::string type = spelled(element);
  const bool wide = bits(element) == 64;
  // Unsigned arithmetic wraps around; signed arithmetic may not.
  const std::string wrapping = wide ? "u64" : "u32";
  const auto wrapped = [&](std::size_t i) { return wrapping + "(" + operands[i] + ")"; };
  const std::string& op = operation.name;
  if (element == Element::i1) {
    if (op == "not") return "(!" + operands[0] + ")";
    if (op == "add" || op == "max") return "i1(" + operands[0] + " | " + operands[1] + ")";
    if (op == "mul" || op == "min") return "i1(" + operands[0] + " & " + operands[1] + ")";
    if (op == "sub") return "i1(" + operands[0] + " ^ " + operands[1] + ")";
  }
  if (op == "add" || op == "sub" || op == "mul" || op == "shl") {
    const std::string sign(symbol(op));
    if (element == Element::u32 || element == Element::u64) return infix(operation, operands);
    if (op == "shl") return type + "(" + wrapped(0) + " << " + operands[1] + ")";
    return type + "(" + wrapped(0) + " " + sign + " " + wrapped(1) + ")";
  }
  if (op == "fma") return type + "(" + wrapped(0) + " * " + wrapped(1) + " + " + wrapped(2) + ")";
  if (op == "neg") return type + "(0 - " + wrapped(0) + ")";
  if (op == "not") return type + "(~" + operands[0] + ")";
  if (op == "abs")
    return is_signed(element) ? type + "(absolute(" + operands[0] + "))" : operands[0];
  if (op == "min" || op == "max") return call(op == "min" ? "least" : "greatest", operands);
  if (op == "mulhi")
    return call(
        std::string(is_signed(element) ? "" : "__u") +
            (is_signed(element) ? (wide ? "__mul64hi" : "__mulhi") : (wide ? "mul64hi" : "mulhi")),
        operands);
  if (op == "floordiv" || op == "mod" || op == "pow")
    return call(op == "pow" ? "power" : op, operands);
  if (!symbol(op).empty()) return type + infix(operation, operands);
  return call(op, operands);
}

// Operations with a rounding mode or flushed subnormal numbers, as PTX has them.
bool is_rounded(const Operation& operation) {
  const std::string mode = operation.word("rm", "rn");
  const bool has_full = operation.is("div");
  return (mode != "rn" && (mode != "full" || has_full)) || operation.integer("ftz") != 0;
}

std::string rounded(const Operation& operation, Element element,
                    const std::vector<std::string>& operands) {
  const bool flushes = operation.integer("ftz") != 0 && element != Element::f64;
  if ((operation.is("min") || operation.is("max")) && operation.integer("nan") != 0)
    return call(operation.is("min") ? "least_nan_ftz" : "greatest_nan_ftz", operands);
  const std::string mode = operation.word("rm", "rn");
  const bool has_full = operation.is("div");
  return call(
      operation.name + "_" + (mode == "full" && !has_full ? "rn" : mode) + (flushes ? "_ftz" : ""),
      operands);
}

std::string floating(const Operation& operation, Element element,
                     const std::vector<std::string>& operands, std::string& header) {
  const std::string& op = operation.name;
  if (is_rounded(operation)) {
    header = "rounding.cuh";
    return rounded(operation, element, operands);
  }
  if (op == "min" || op == "max") {
    if (operation.integer("nan") != 0)
      return call(op == "min" ? "least_nan" : "greatest_nan", operands);
    return math(op == "min" ? "fmin" : "fmax", element, operands);
  }
  if (op == "neg") return "(-" + operands[0] + ")";
  if (op == "abs") return math("fabs", element, operands);
  if (op == "isnan") return call("is_nan", operands);
  if (op == "floordiv" || op == "mod") return call(op, operands);
  if (!symbol(op).empty()) return infix(operation, operands);
  return math(op, element, operands);
}

bool compares(const Operation& operation) {
  const std::string& op = operation.name;
  return op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge" ||
         op == "isnan";
}

}  // namespace

Expression expression(const Operation& operation, const std::vector<std::string>& operands) {
  const Type& result = operation.result()->type;
  const Value* const first = operation.operands.empty() ? nullptr : operation.operand(0);
  const Element from = first == nullptr ? result.element : first->type.element;
  const Element to = result.element;
  if (operation.is("assume_div")) return {operands[0], {}};
  if (operation.is("select"))
    return {"(" + operands[0] + " ? " + operands[1] + " : " + operands[2] + ")", {}};
  if (operation.is("cast") || operation.is("bitcast")) {
    if (result.pointer) return {"(" + spelled(to) + "*)(" + operands[0] + ")", {}};
    if (first != nullptr && first->type.pointer)
      return {spelled(to) + "((u64)(" + operands[0] + "))", {}};
  }
  if (operation.is("bitcast"))
    return {from == to ? operands[0] : "bits_as<" + spelled(to) + ">(" + operands[0] + ")", {}};
  const bool small8 = is_small_float(from) || is_small_float(to);
  const auto is8 = [](Element element) { return is_float(element) && bits(element) <= 8; };
  std::string header = small8 && (is8(from) || is8(to)) ? "float8.cuh" : "";
  if (operation.is("cast")) {
    const std::string mode = operation.word("rm", "rn");
    if (mode != "rn" && is_float(from) && is_float(to) && loses(from, to)) {
      return {"to_" + mode + "<" + spelled(to) + ">(" + operands[0] + ")", "rounding.cuh"};
    }
    return {converted(from, to, operands[0]), header};
  }
  if (operation.is("call")) {
    // The user's functions take CUDA's own classes of small floats.
    std::vector<std::string> arguments = operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Element element = operation.operand(i)->type.element;
      if (element == Element::f16) arguments[i] = "bits_as<__half>(" + operands[i] + ")";
      if (element == Element::bf16) arguments[i] = "bits_as<__nv_bfloat16>(" + operands[i] + ")";
    }
    const std::string called = call("::" + operation.word("name"), arguments);
    const bool is_half = to == Element::f16 || to == Element::bf16;
    return {is_half ? "bits_as<" + spelled(to) + ">(" + called + ")" : called, {}};
  }
  // What is only read is const where it is a parameter; the kernel's own pointers are not.
  if (result.pointer && operation.is("add"))
    return {"(" + spelled(to) + "*)(" + operands[0] + " + " + operands[1] + ")", {}};
  const Element element = compares(operation) ? from : to;
  if (is_integer(element)) {
    if (compares(operation)) return {infix(operation, operands), {}};
    return {integer(operation, element, operands), {}};
  }
  if (operation.is("fma") && is_small_float(element) && !is_rounded(operation))
    return {call("fused", operands), {}};
  std::string text = floating(operation, element, operands, header);
  if (is_small_float(to)) {
    const std::string mode = operation.word("rm", "rn");
    if (mode == "rz" || mode == "rm" || mode == "rp")
      return {"to_" + mode + "<" + spelled(to) + ">(" + text + ")", header};
    const bool is_wrapped =
        text.front() == '(' && text.back() == ')' && !symbol(operation.name).empty();
    text = spelled(to) + (is_wrapped ? text : "(" + text + ")");
  }
  return {text, header};
}

}  // namespace cudacore::tile
