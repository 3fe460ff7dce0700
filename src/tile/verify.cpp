// SPDX-License-Identifier: Apache-2.0
#include "tile/verify.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "tile/operations.hpp"

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

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void region(const Region& region) {
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
    if (!ends && !owners_.empty() &&
        (!owners_.back()->is("if") || !owners_.back()->results.empty()))
      fail(*owners_.back(), "has a region without an end");
  }

 private:
  [[noreturn]] void fail(const Operation& operation, const std::string& message) const {
    throw kernel_.error(operation.location, "'" + operation.name + "' " + message + " (line " +
                                                std::to_string(operation.text_line) +
                                                " of the tile text)");
  }

  // What leaves a region has the types of what takes it.
  void terminator(const Operation& operation) const {
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

  void check(const Operation& operation) {
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
    if (op == "const" || op == "iota" || op == "bid" || op == "num_blocks")
      return source(operation);
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

  static bool takes_values(const std::string& op) {
    return op != "for" && op != "print" && op != "yield" && op != "continue" && op != "break";
  }

  void require(const Operation& operation, bool holds, const std::string& message) const {
    if (!holds) fail(operation, message);
  }

  static const Type& type_of(const Operation& operation, std::size_t i) {
    return operation.operand(i)->type;
  }

  void source(const Operation& operation) const {
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

  void elementwise(const Operation& operation) const {
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

  void check_mode(const Operation& operation, Element element) const {
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

  void conversion(const Operation& operation) const {
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

  void scalars(const Operation& operation, std::string_view key, std::size_t count) const {
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

  void pointer(const Operation& operation, const Type& accessed) const {
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
    require(operation, orders.contains(operation.word("mem", "weak")),
            "has no such order of memory");
    require(operation, scopes.contains(operation.word("scope", "none")), "has no such scope");
  }

  void access(const Operation& operation) const {
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

  void access_at(const Operation& operation) const {
    const Type& offsets = type_of(operation, 1);
    require(operation,
            is_integer(offsets.element) && offsets.element != Element::i1 && !offsets.pointer,
            "takes integers as offsets");
    const Type accessed =
        operation.is("load_at") ? operation.result()->type : type_of(operation, 2);
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

  void folding(const Operation& operation) const {
    const std::size_t count = operation.operands.size();
    require(operation, count > 0 && operation.results.size() == count,
            "gives as many results as it has operands");
    const Region& region = operation.region(0);
    require(operation, region.arguments.size() == 2 * count,
            "has a region with two arguments for each operand");
    require(operation,
            !region.operations.empty() && region.operations.back()->is("yield") &&
                region.operations.back()->operands.size() == count,
            "has a region that yields a value for each operand");
    const Type& first = type_of(operation, 0);
    require(operation, first.is_tile(), "takes tiles");
    const std::int64_t axis = operation.integer("axis", -1);
    require(operation, axis >= 0 && axis < static_cast<std::int64_t>(first.shape.size()),
            "has an axis of the tile's");
    std::vector<std::int64_t> shape = first.shape;
    if (operation.is("reduce")) shape.erase(shape.begin() + axis);
    for (std::size_t i = 0; i < count; ++i) {
      const Type& type = type_of(operation, i);
      require(operation, type.shape == first.shape && !type.pointer, "takes tiles of one shape");
      require(operation, operation.results[i]->type == Type{type.element, shape, false},
              "gives " + to_string(Type{type.element, shape, false}));
      const Type scalar{type.element, {}, false};
      const Operand& yielded = region.operations.back()->operands[i];
      require(operation,
              region.arguments[i]->type == scalar && region.arguments[count + i]->type == scalar &&
                  yielded.value != nullptr && yielded.value->type == scalar,
              "has a region of scalars of the tiles' elements");
    }
    for (const std::unique_ptr<Operation>& inner : region.operations)
      require(*inner, inner->is("yield") || inner->is("const") || is_elementwise(*inner),
              "cannot stand in the region of a reduce or scan");
  }

  void structured(const Operation& operation) {
    if (operation.is("if")) {
      require(
          operation,
          operation.operand(0) != nullptr && type_of(operation, 0) == Type{Element::i1, {}, false},
          "decides by an i1");
      require(operation, operation.results.empty() || operation.regions.size() == 2,
              "gives values, so it needs both regions");
      return;
    }
    const std::vector<Operand>& initial = operation.group("iter");
    require(operation, operation.results.size() == initial.size(), "gives what it carries");
    for (std::size_t i = 0; i < initial.size(); ++i)
      require(operation, operation.results[i]->type == initial[i].value->type,
              "gives what it carries");
    if (!operation.is("for")) return;
    const Type& index = operation.region(0).arguments[0]->type;
    require(operation,
            !index.is_tile() && !index.pointer && is_integer(index.element) &&
                index.element != Element::i1,
            "counts with an integer");
    for (const Operand& bound : operation.operands)
      require(operation, bound.value == nullptr || bound.value->type == index,
              "has bounds of different types");
    require(operation, operation.operands[2].value != nullptr || operation.operands[2].literal > 0,
            "has a step above 0");
  }

  // Operations that rearrange a tile's elements.
  void shape(const Operation& operation) const {
    const Type& from = type_of(operation, 0);
    const Type& to = operation.result()->type;
    const std::string& op = operation.name;
    const std::string both = to_string(from) + " and " + to_string(to);
    if (op == "mma") return product(operation);
    require(operation, !from.pointer && !to.pointer, "does not take pointers");
    if (op == "pack" || op == "unpack")
      return require(operation,
                     from.is_tile() && to.is_tile() && from.element != Element::i1 &&
                         to.element != Element::i1 &&
                         from.size() * bits(from.element) == to.size() * bits(to.element),
                     "keeps the number of bytes, unlike " + both);
    require(operation, from.element == to.element, "keeps the type of elements, unlike " + both);
    if (op == "broadcast") {
      bool fits = !from.is_tile() || from.shape.size() == to.shape.size();
      for (std::size_t i = 0; fits && i < from.shape.size(); ++i)
        fits = from.shape[i] == to.shape[i] || from.shape[i] == 1;
      return require(operation, fits && to.is_tile(), "cannot grow " + both);
    }
    if (op == "reshape")
      return require(operation, from.size() == to.size(),
                     "keeps the number of elements, unlike " + both);
    if (op == "permute") return permutation(operation);
    if (op == "cat") {
      const std::int64_t axis = operation.integer("axis", -1);
      require(operation, axis >= 0 && axis < static_cast<std::int64_t>(from.shape.size()),
              "has an axis of the tile's");
      Type wanted = from;
      wanted.shape[static_cast<std::size_t>(axis)] *= 2;
      return require(operation, type_of(operation, 1) == from && to == wanted,
                     "joins two tiles of one type");
    }
    // extract and insert
    const Type& block = op == "insert" ? type_of(operation, 1) : to;
    require(operation, op != "insert" || from == to, "gives a tile like its first");
    bool fits = from.is_tile() && block.element == from.element &&
                (block.shape.size() == from.shape.size() || !block.is_tile());
    for (std::size_t i = 0; fits && i < block.shape.size(); ++i)
      fits = block.shape[i] <= from.shape[i];
    require(operation, fits,
            "has a block that does not fit: " + to_string(block) + " of " + to_string(from));
    scalars(operation, "index", from.shape.size());
    for (std::size_t i = 0; i < from.shape.size(); ++i) {
      const Operand& index = operation.group("index")[i];
      const std::int64_t extent = block.is_tile() ? block.shape[i] : 1;
      require(
          operation,
          index.value != nullptr || (index.literal >= 0 && index.literal < from.shape[i] / extent),
          "has an index beyond the tile");
    }
  }

  void permutation(const Operation& operation) const {
    const Type& from = type_of(operation, 0);
    const Type& to = operation.result()->type;
    const Attribute* const found = operation.attribute("axes");
    const auto* const axes = found == nullptr ? nullptr : std::get_if<AttributeList>(&found->value);
    require(operation,
            axes != nullptr && axes->size() == from.shape.size() && axes->size() == to.shape.size(),
            "names each axis once");
    std::vector<bool> seen(axes->size());
    for (std::size_t i = 0; i < axes->size(); ++i) {
      const auto* const axis = std::get_if<std::int64_t>(&(*axes)[i].value);
      require(operation,
              axis != nullptr && *axis >= 0 && *axis < static_cast<std::int64_t>(axes->size()) &&
                  !seen[static_cast<std::size_t>(*axis)] &&
                  to.shape[i] == from.shape[static_cast<std::size_t>(*axis)],
              "names each axis once");
      seen[static_cast<std::size_t>(*axis)] = true;
    }
  }

  void product(const Operation& operation) const {
    const std::vector<std::int64_t>& a = type_of(operation, 0).shape;
    const std::vector<std::int64_t>& b = type_of(operation, 1).shape;
    const std::vector<std::int64_t>& c = type_of(operation, 2).shape;
    const std::size_t rank = a.size();
    bool fits = (rank == 2 || rank == 3) && b.size() == rank && c.size() == rank &&
                type_of(operation, 2) == operation.result()->type;
    fits = fits && (rank == 2 || (a[0] == b[0] && b[0] == c[0])) && a[rank - 1] == b[rank - 2] &&
           a[rank - 2] == c[rank - 2] && b[rank - 1] == c[rank - 1];
    require(operation, fits, "multiplies [M,K] and [K,N] and adds [M,N]");
  }

  const Kernel& kernel_;
  std::vector<const Operation*> owners_;
};

}  // namespace

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
