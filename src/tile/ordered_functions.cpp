// SPDX-License-Identifier: Apache-2.0
#include "tile/ordered_functions.hpp"

#include "tile/operations.hpp"

namespace cudacore::tile {
namespace {

std::string scope_of(const Operation& operation) {
  const std::string scope = operation.word("scope", "device");
  if (scope == "block") return "cta";
  return scope == "sys" ? "sys" : "gpu";
}

// How PTX's inline assembly takes numbers of some bytes.
struct Register {
  std::string constraint;
  std::string type;
  std::string suffix;  // of loads and stores
};

Register of_bytes(int size) {
  switch (size) {
    case 1:
      return {"h", "u16", "u8"};
    case 2:
      return {"h", "u16", "u16"};
    case 4:
      return {"r", "u32", "u32"};
    default:
      return {"l", "u64", "u64"};
  }
}

std::string unsigned_type(int size) { return "u" + std::to_string(8 * size); }

}  // namespace

std::string load_function(Printer& printer, const Operation& operation, Element element) {
  const std::string order = operation.word("mem") == "acquire" ? "acquire" : "relaxed";
  const std::string scope = scope_of(operation);
  const std::string type(name(element));
  const Register reg = of_bytes(bytes(element));
  std::string function = "load_" + order + "_" + scope + "_" + type;
  printer.define_lambda(function, "[](const " + type + "* from) -> " + type + " {\n  " + reg.type +
                                      " bits;\n  asm volatile(\"ld." + order + "." + scope + "." +
                                      reg.suffix + " %0, [%1];\" : \"=" + reg.constraint +
                                      "\"(bits) : \"l\"(from) : \"memory\");\n  return bits_as<" +
                                      type + ">(" + unsigned_type(bytes(element)) + "(bits));\n}");
  return function;
}

std::string store_function(Printer& printer, const Operation& operation, Element element) {
  const std::string order = operation.word("mem") == "release" ? "release" : "relaxed";
  const std::string scope = scope_of(operation);
  const std::string type(name(element));
  const Register reg = of_bytes(bytes(element));
  std::string function = "store_" + order + "_" + scope + "_" + type;
  printer.define_lambda(
      function, "[](" + type + "* to, " + type + " value) {\n  asm volatile(\"st." + order + "." +
                    scope + "." + reg.suffix + " [%0], %1;\" : : \"l\"(to), \"" + reg.constraint +
                    "\"(" + reg.type + "(bits_as<" + unsigned_type(bytes(element)) +
                    ">(value))) : \"memory\");\n}");
  return function;
}

namespace {

// The type that PTX's atomic instruction has for an operation on elements; empty: it has none.
std::string instruction_type(const std::string& op, Element element, int architecture) {
  const int size = bits(element);
  if (op == "xchg" || op == "and" || op == "or" || op == "xor")
    return size == 32 || size == 64 ? "b" + std::to_string(size) : "";
  if (op == "add") {
    if (element == Element::f32) return "f32";
    if (element == Element::f64) return "f64";
    if (element == Element::f16) return "noftz.f16";
    if (element == Element::bf16) return architecture >= 90 ? "noftz.bf16" : "";
    if (is_float(element) || size < 32) return "";
    return size == 64 ? "u64" : is_signed(element) ? "s32" : "u32";
  }
  if (is_float(element) || size < 32) return "";
  return (is_signed(element) ? "s" : "u") + std::to_string(size);
}

// The new value as an expression of `old` and `value`.
std::string changed(const std::string& op, Element element) {
  const std::string type(name(element));
  const bool real = is_float(element);
  const bool unsigned_bits = op == "and" || op == "or" || op == "xor";
  if (op == "xchg") return "value";
  if (op == "add") return type + (real ? "(old + value)" : "(u32(old) + u32(value))");
  if (op == "min" || op == "max") {
    if (!real) return (op == "min" ? "least" : "greatest") + std::string("(old, value)");
    std::string function = op == "min" ? "fmin" : "fmax";
    return type + "(" + function + (element == Element::f64 ? "" : "f") + "(old, value))";
  }
  const std::string sign = op == "and" ? "&" : op == "or" ? "|" : "^";
  const std::string raw = "u" + std::to_string(8 * bytes(element));
  return unsigned_bits ? "bits_as<" + type + ">(" + raw + "(bits_as<" + raw + ">(old) " + sign +
                             " bits_as<" + raw + ">(value)))"
                       : "value";
}

// The body of a function that exchanges the word with an element until nobody else has changed the
// word in between. `next` is the new element as an expression of `old` and `value`.
std::string exchanged(int size, const std::string& type, const std::string& dotted,
                      const std::string& next) {
  std::string text = R"(  WORD* const word = (WORD*)((u64)at & ~u64(LAST));
  const int shift = int((u64)at & LAST) * 8;
  const WORD mask = WORD(WORD(RAW(~RAW(0))) << shift);
  WORD seen = *(volatile WORD*)word;
  for (;;) {
    const TYPE old = bits_as<TYPE>(RAW(seen >> shift));
    const TYPE next = NEXT;
    const WORD wanted = WORD((seen & WORD(~mask)) | WORD(WORD(bits_as<RAW>(next)) << shift));
    WORD found;
    asm volatile("atomDOTTEDcas.bBITS %0, [%1], %2, %3;"
                 : "=REGISTER"(found)
                 : "l"(word), "REGISTER"(seen), "REGISTER"(wanted)
                 : "memory");
    if (found == seen) return old;
    seen = found;
  }
})";
  const int width = size == 1 ? 2 : size;  // bytes of the word
  const auto replace = [&](std::string_view what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
      text.replace(at, what.size(), with);
  };
  replace("NEXT", next);
  replace("WORD", unsigned_type(width));
  replace("RAW", unsigned_type(size));
  replace("TYPE", type);
  replace("LAST", std::to_string(width - 1));
  replace("DOTTED", dotted);
  replace("BITS", std::to_string(8 * width));
  replace("REGISTER", of_bytes(width).constraint);
  return text;
}

}  // namespace

std::string atomic_function(Printer& printer, const Operation& operation, Element element) {
  const bool swaps = operation.is("atomic_cas");
  const std::string op = swaps ? "cas" : operation.word("op");
  const std::string order =
      operation.word("mem", "relaxed") == "weak" ? "relaxed" : operation.word("mem", "relaxed");
  const std::string scope = scope_of(operation);
  const std::string type(name(element));
  const int size = bytes(element);
  const bool has_result = !operation.results.empty();
  std::string function =
      (has_result ? "atomic_" : "reduce_") + op + "_" + order + "_" + scope + "_" + type;
  const std::string kind = swaps ? (size == 4   ? "b32"
                                    : size == 8 ? "b64"
                                    : size == 2 ? "b16"
                                                : "")
                                 : instruction_type(op, element, printer.target().architecture);
  std::string text = "[](" + type + "* at, " + (swaps ? type + " expected, " : "") + type +
                     " value) -> " + type + " {\n";
  const std::string dotted = "." + order + "." + scope + ".";
  const std::string instruction = op == "xchg" ? "exch" : op;
  if (!kind.empty()) {
    const bool real = kind == "f32" || kind == "f64";
    const std::string constraint = real ? (kind == "f32" ? "f" : "d") : of_bytes(size).constraint;
    const std::string raw = real ? type : "u" + std::to_string(8 * size);
    const auto input = [&](const std::string& name) {
      return "\"" + constraint + "\"(bits_as<" + raw + ">(" + name + "))";
    };
    if (has_result) {
      text += "  " + raw + " old;\n  asm volatile(\"atom" + dotted + instruction + "." + kind +
              " %0, [%1], %2" + (swaps ? ", %3" : "") + ";\" : \"=" + constraint +
              "\"(old) : \"l\"(at), " + (swaps ? input("expected") + ", " : "") + input("value") +
              " : \"memory\");\n  return bits_as<" + type + ">(old);\n}";
    } else {
      // Reductions know fewer orders than operations with results.
      const bool reduces = (order == "relaxed" || order == "release") && op != "xchg" && !swaps;
      text += reduces
                  ? "  asm volatile(\"red" + dotted + instruction + "." + kind +
                        " [%0], %1;\" : : \"l\"(at), " + input("value") +
                        " : \"memory\");\n  return value;\n}"
                  : "  " + raw + " old;\n  asm volatile(\"atom" + dotted + instruction + "." +
                        kind + " %0, [%1], %2" + (swaps ? ", %3" : "") + ";\" : \"=" + constraint +
                        "\"(old) : \"l\"(at), " + (swaps ? input("expected") + ", " : "") +
                        input("value") + " : \"memory\");\n  return value;\n}";
    }
  } else {
    text += exchanged(
        size, type, dotted,
        swaps ? "bits_as<RAW>(old) == bits_as<RAW>(expected) ? value : old" : changed(op, element));
  }
  printer.define_lambda(function, text);
  return function;
}

}  // namespace cudacore::tile
