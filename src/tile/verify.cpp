// SPDX-License-Identifier: Apache-2.0
#include "tile/verify.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "tile/operations.hpp"
#include "tile/verifier.hpp"

namespace cudacore::tile {
namespace {

// How many plain operands and results an operation has; -1: any number.
struct Form {
  int operands = -1;
  int results = -1;
};

const std::unordered_map<std::string_view, Form>& forms() {
  static const std::unordered_map<std::string_view, Form> table = {
      {"const", {0, 1}},     {"iota", {0, 1}},
      {"bid", {0, 1}},       {"num_blocks", {0, 1}},
      {"add", {2, 1}},       {"sub", {2, 1}},
      {"mul", {2, 1}},       {"div", {2, 1}},
      {"floordiv", {2, 1}},  {"mod", {2, 1}},
      {"pow", {2, 1}},       {"atan2", {2, 1}},
      {"min", {2, 1}},       {"max", {2, 1}},
      {"and", {2, 1}},       {"or", {2, 1}},
      {"xor", {2, 1}},       {"shl", {2, 1}},
      {"shr", {2, 1}},       {"mulhi", {2, 1}},
      {"neg", {1, 1}},       {"abs", {1, 1}},
      {"not", {1, 1}},       {"exp", {1, 1}},
      {"exp2", {1, 1}},      {"log", {1, 1}},
      {"log2", {1, 1}},      {"sqrt", {1, 1}},
      {"rsqrt", {1, 1}},     {"sin", {1, 1}},
      {"cos", {1, 1}},       {"tan", {1, 1}},
      {"sinh", {1, 1}},      {"cosh", {1, 1}},
      {"tanh", {1, 1}},      {"floor", {1, 1}},
      {"ceil", {1, 1}},      {"isnan", {1, 1}},
      {"eq", {2, 1}},        {"ne", {2, 1}},
      {"lt", {2, 1}},        {"le", {2, 1}},
      {"gt", {2, 1}},        {"ge", {2, 1}},
      {"select", {3, 1}},    {"fma", {3, 1}},
      {"cast", {1, 1}},      {"bitcast", {1, 1}},
      {"broadcast", {1, 1}}, {"reshape", {1, 1}},
      {"permute", {1, 1}},   {"cat", {2, 1}},
      {"extract", {1, 1}},   {"insert", {2, 1}},
      {"pack", {1, 1}},      {"unpack", {1, 1}},
      {"load", {1, 1}},      {"store", {2, 0}},
      {"load_at", {2, 1}},   {"store_at", {3, 0}},
      {"atomic", {3, -1}},   {"atomic_cas", {4, -1}},
      {"reduce", {-1, -1}},  {"scan", {-1, -1}},
      {"mma", {3, 1}},       {"assume_div", {1, 1}},
      {"print", {-1, 0}},    {"assert", {1, 0}},
      {"grid_wait", {0, 0}}, {"grid_launch_dependents", {0, 0}},
      {"call", {-1, 1}},     {"for", {3, -1}},
      {"loop", {0, -1}},     {"if", {1, -1}},
      {"continue", {-1, 0}}, {"break", {-1, 0}},
      {"yield", {-1, 0}},    {"return", {0, 0}},
  };
  return table;
}

}  // namespace

void Verifier::region(const Region& region) {
  for (std::size_t i = 0; i < region.operations.size(); ++i) {
    const Operation& operation = *region.operations[i];
    check(operation);
    if (is_terminator(operation)) {
      require(operation, i + 1 == region.operations.size(), "does not end its region");
      terminator(operation);
    }
    owners_.push_back(&operation);
    for (const std::unique_ptr<Region>& inner : operation.regions) this->region(*inner);
    owners_.pop_back();
  }
  const bool ends = !region.operations.empty() && is_terminator(*region.operations.back());
  if (!ends && !owners_.empty() && (!owners_.back()->is("if") || !owners_.back()->results.empty()))
    fail(*owners_.back(), "has a region without an end");
}

void Verifier::fail(const Operation& operation, const std::string& message) const {
  throw kernel_.error(operation.location, "'" + operation.name + "' " + message + " (line " +
                                              std::to_string(operation.location.text_line) +
                                              " of the tile text)");
}

void Verifier::terminator(const Operation& operation) const {
  if (operation.is("return")) return;
  const Operation* owner = owners_.empty() ? nullptr : owners_.back();
  if (!operation.is("yield"))
    for (auto it = owners_.rbegin(); it != owners_.rend() && owner->is("if"); ++it) owner = *it;
  const bool is_loop = owner != nullptr && (owner->is("for") || owner->is("loop"));
  require(operation, owner != nullptr && is_loop != operation.is("yield"),
          "stands in no region of its kind");
  if (owner->is("reduce") || owner->is("scan")) return;
  require(operation, operation.operands.size() == owner->results.size(),
          "gives " + std::to_string(operation.operands.size()) + " values, not " +
              std::to_string(owner->results.size()));
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const Value* const value = operation.operands[i].value;
    require(operation, value != nullptr && value->type == owner->results[i]->type,
            "gives a value of another type than " + to_string(owner->results[i]->type));
  }
}

void Verifier::check(const Operation& operation) {
  const auto found = forms().find(operation.name);
  if (found == forms().end()) fail(operation, "is no operation of the text");
  const auto [operands, results] = found->second;
  if (operands >= 0 && static_cast<int>(operation.operands.size()) != operands)
    fail(operation, "has " + std::to_string(operands) + " operands, not " +
                        std::to_string(operation.operands.size()));
  if (results >= 0 && static_cast<int>(operation.results.size()) != results)
    fail(operation, "has " + std::to_string(results) + " results, not " +
                        std::to_string(operation.results.size()));
  const std::string& op = operation.name;
  if (op == "const" || op == "iota" || op == "bid" || op == "num_blocks") return source(operation);
  if (takes_values(op))
    for (const Operand& operand : operation.operands)
      if (operand.value == nullptr) fail(operation, "takes values, not literals");
  if (is_elementwise(operation)) return elementwise(operation);
  if (op == "load" || op == "store") return access(operation);
  if (op == "load_at" || op == "store_at" || op == "atomic" || op == "atomic_cas")
    return access_at(operation);
  if (op == "reduce" || op == "scan") return folding(operation);
  if (op == "for" || op == "loop" || op == "if") return structured(operation);
  if (is_terminator(operation)) return;  // region() has seen to these
  if (op == "assert")
    return require(operation, type_of(operation, 0).element == Element::i1, "takes an i1");
  if (!operation.results.empty()) shape(operation);
}

bool Verifier::takes_values(const std::string& op) {
  return op != "for" && op != "print" && op != "yield" && op != "continue" && op != "break";
}

void Verifier::require(const Operation& operation, bool holds, const std::string& message) const {
  if (!holds) fail(operation, message);
}

const Type& Verifier::type_of(const Operation& operation, std::size_t i) {
  return operation.operand(i)->type;
}

void Verifier::source(const Operation& operation) const {
  const Type& type = operation.result()->type;
  require(operation, !type.pointer, "gives no pointer");
  if (operation.is("const")) {
    const Attribute* const value = operation.attribute("value");
    require(operation,
            value != nullptr && !std::holds_alternative<AttributeList>(value->value) &&
                !std::holds_alternative<std::string>(value->value),
            "lacks its value");
    require(operation, !is_integer(type.element) || !std::holds_alternative<double>(value->value),
            "has a float as the value of an integer");
  } else if (operation.is("iota")) {
    require(operation,
            type.shape.size() == 1 && is_integer(type.element) && type.element != Element::i1,
            "gives a tile of integers with one dimension");
  } else {
    require(operation, type == Type{Element::i32, {}, false}, "gives an i32");
    const std::int64_t axis = operation.integer("axis", -1);
    require(operation, axis >= 0 && axis <= 2, "has an axis from 0 to 2");
  }
}

void Verifier::elementwise(const Operation& operation) const {
  const Type& result = operation.result()->type;
  const std::string& op = operation.name;
  for (const Operand& operand : operation.operands)
    require(operation, operand.value->type.shape == result.shape,
            "has operands and results of different shapes: " + to_string(operand.value->type) +
                " and " + to_string(result));
  if (op == "call")
    return require(operation, !operation.word("name").empty(), "lacks the function's name");
  if (op == "cast" || op == "bitcast") return conversion(operation);
  const bool compares = op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" ||
                        op == "ge" || op == "isnan";
  if (compares) require(operation, result.element == Element::i1, "gives an i1");
  if (result.pointer)
    return require(operation,
                   (op == "add" && is_integer(type_of(operation, 1).element) &&
                    !type_of(operation, 1).pointer && type_of(operation, 0) == result) ||
                       (op == "assume_div" && type_of(operation, 0) == result),
                   "does not take pointers");
  const std::size_t first = op == "select" ? 1 : 0;
  const Type wanted = compares ? type_of(operation, 0) : result;
  require(operation, !wanted.pointer, "does not take pointers");
  if (op == "select")
    require(operation, type_of(operation, 0).element == Element::i1, "chooses by an i1");
  for (std::size_t i = first; i < operation.operands.size(); ++i)
    require(operation, type_of(operation, i) == wanted,
            "has an operand of " + to_string(type_of(operation, i)) + " where it needs " +
                to_string(wanted));
  static const std::unordered_set<std::string_view> floats = {
      "exp", "exp2", "log",  "log2", "sqrt",  "rsqrt", "sin",   "cos",
      "tan", "sinh", "cosh", "tanh", "floor", "ceil",  "isnan", "atan2"};
  static const std::unordered_set<std::string_view> integers = {"and", "or",  "xor",  "shl",
                                                                "shr", "not", "mulhi"};
  require(operation, !floats.contains(op) || is_float(wanted.element), "takes floats");
  require(operation, !integers.contains(op) || is_integer(wanted.element), "takes integers");
  if (op == "mulhi")
    require(operation, bits(wanted.element) >= 32, "takes integers of 32 or 64 bits");
  check_mode(operation, wanted.element);
}

void Verifier::check_mode(const Operation& operation, Element element) const {
  const std::string mode = operation.word("rm", "rn");
  if (mode == "rn" && operation.integer("ftz") == 0) return;
  const std::string& op = operation.name;
  static const std::unordered_set<std::string_view> directed = {"add", "sub",  "mul",
                                                                "div", "sqrt", "fma"};
  static const std::unordered_set<std::string_view> approximate = {
      "div", "sqrt", "rsqrt", "exp", "exp2", "tanh", "log", "sin", "cos"};
  static const std::unordered_set<std::string_view> flushing = {
      "add", "sub", "mul", "div", "sqrt", "fma", "rsqrt", "exp2", "min", "max"};
  const bool known = mode == "rn" ? true
                     : mode == "rz" || mode == "rm" || mode == "rp"
                         ? directed.contains(op)
                         : (mode == "approx" && approximate.contains(op)) ||
                               (mode == "full" && (op == "div" || op == "exp" || op == "tanh"));
  require(operation, known && is_float(element), "has no rounding mode '" + mode + "' here");
  require(operation, operation.integer("ftz") == 0 || flushing.contains(op),
          "does not flush subnormal numbers");
  const bool wide = element == Element::f64 &&
                    (mode == "approx" || mode == "full" || operation.integer("ftz") != 0);
  require(operation, !wide, "has no such rounding for f64");
}

void Verifier::conversion(const Operation& operation) const {
  const Type& from = type_of(operation, 0);
  const Type& to = operation.result()->type;
  if (from.pointer || to.pointer) {
    const Type& other = from.pointer ? to : from;
    require(operation,
            !other.is_tile() && (other.pointer || bits(other.element) == 64) &&
                (other.pointer || is_integer(other.element)),
            "turns pointers into integers of 64 bits, and these into pointers");
    return;
  }
  if (operation.is("bitcast"))
    return require(operation,
                   bytes(from.element) == bytes(to.element) &&
                       (from.element == Element::i1) == (to.element == Element::i1) &&
                       (from.element == Element::e2m1) == (to.element == Element::e2m1),
                   "keeps the number of bits");
  static const std::unordered_set<std::string_view> modes = {"rn", "rz", "rm", "rp", "ra", "rzi"};
  require(operation, modes.contains(operation.word("rm", "rn")), "has no such rounding mode");
}

void Verifier::scalars(const Operation& operation, std::string_view key, std::size_t count) const {
  const std::vector<Operand>& group = operation.group(key);
  require(operation, group.size() == count,
          "has " + std::to_string(count) + " members of '" + std::string(key) + "', not " +
              std::to_string(group.size()));
  for (const Operand& operand : group) {
    if (operand.value == nullptr) continue;
    const Type& type = operand.value->type;
    require(operation, !type.is_tile() && !type.pointer && is_integer(type.element),
            "takes integers as '" + std::string(key) + "'");
  }
}

void Verifier::pointer(const Operation& operation, const Type& accessed) const {
  const Type& type = type_of(operation, 0);
  require(operation, type.pointer && !type.is_tile(), "begins with a pointer");
  require(operation, type.element == accessed.element && !accessed.pointer,
          "moves elements of another type than the pointer's: " + to_string(accessed) + " and " +
              to_string(type));
  require(operation, accessed.element != Element::e2m1,
          "moves whole bytes, so e2m1 is read and written packed");
  static const std::unordered_set<std::string_view> orders = {"weak", "relaxed", "acquire",
                                                              "release", "acq_rel"};
  static const std::unordered_set<std::string_view> scopes = {"none", "block", "device", "sys"};
  require(operation, orders.contains(operation.word("mem", "weak")), "has no such order of memory");
  require(operation, scopes.contains(operation.word("scope", "none")), "has no such scope");
}

void Verifier::access(const Operation& operation) const {
  const Type& accessed = operation.is("load") ? operation.result()->type : type_of(operation, 1);
  pointer(operation, accessed);
  const std::size_t rank =
      accessed.is_tile() ? accessed.shape.size() : operation.group("origin").size();
  scalars(operation, "origin", rank);
  scalars(operation, "strides", rank);
  if (operation.integer("bounds", 1) != 0 || !operation.group("shape").empty())
    scalars(operation, "shape", rank);
  static const std::unordered_set<std::string_view> pads = {"undef", "zero", "neg_zero",
                                                            "nan",   "inf",  "neg_inf"};
  const std::string pad = operation.word("pad", "undef");
  require(operation, pads.contains(pad), "has no such padding");
  require(operation,
          is_float(accessed.element) || (pad != "nan" && pad != "inf" && pad != "neg_inf"),
          "pads integers with zero only");
}

void Verifier::access_at(const Operation& operation) const {
  const Type& offsets = type_of(operation, 1);
  require(operation,
          is_integer(offsets.element) && offsets.element != Element::i1 && !offsets.pointer,
          "takes integers as offsets");
  const Type accessed = operation.is("load_at") ? operation.result()->type : type_of(operation, 2);
  pointer(operation, accessed);
  std::vector<const Value*> others;
  for (std::size_t i = 2; i < operation.operands.size(); ++i)
    others.push_back(operation.operand(i));
  for (const Value* const result : operation.results) others.push_back(result);
  for (const Operand& other : operation.group("other")) others.push_back(other.value);
  require(operation, accessed.shape == offsets.shape, "has offsets of another shape");
  for (const Value* const other : others)
    require(operation, other != nullptr && other->type == accessed,
            "has operands of different types");
  for (const Operand& mask : operation.group("mask"))
    require(operation, mask.value != nullptr && mask.value->type == accessed.with(Element::i1),
            "has a mask that is not i1 of the same shape");
  require(operation, operation.results.size() <= 1, "has at most one result");
  if (!operation.is("atomic")) return;
  static const std::unordered_set<std::string_view> updates = {"add", "xchg", "max", "min",
                                                               "and", "or",   "xor"};
  const std::string op = operation.word("op");
  require(operation, updates.contains(op), "has no such operation on memory");
  require(operation, is_integer(accessed.element) || (op != "and" && op != "or" && op != "xor"),
          "takes integers for '" + op + "'");
}

void verify(const Kernel& kernel) {
  const bool is_name =
      !kernel.name.empty() &&
      kernel.name.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos &&
      (kernel.name.front() < '0' || kernel.name.front() > '9');
  if (!is_name) throw kernel.error({}, "'" + kernel.name + "' is no name of a kernel");
  for (const Value* const parameter : kernel.parameters)
    if (parameter->type.is_tile())
      throw kernel.error({}, "a parameter is a scalar or a pointer, no tile");
  Verifier(kernel).region(kernel.body);
}

}  // namespace cudacore::tile
