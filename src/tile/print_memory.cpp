// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "tile/access.hpp"
#include "tile/divisors.hpp"
#include "tile/literal.hpp"
#include "tile/operations.hpp"
#include "tile/ordered_functions.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

// From so many vectors of a thread on, a branch that asks once for all pays.
constexpr int few_vectors = 4;

// One axis of the array that a tile is read from or written to.
struct TileAxis {
  std::string index;       // variable: of the thread's first element in the array
  std::string index_type;  // i32 or i64, of `index`
  std::string origin;      // of the tile
  std::string extent;      // of the array
  std::string stride;
  bool is_guarded = false;     // the tile may reach beyond the array
  std::int64_t size = 1;       // of the tile
  std::vector<int> registers;  // what the register's bits add to the index
};

class Walk {
 public:
  Walk(Printer& printer, const Operation& operation, const Layout& layout)
      : printer_(printer), type_(accessed_type(operation)), access_(tile_access(operation)) {
    stem_ = operation.is("store") ? printer.fresh("store") : Printer::name(*operation.result());
    add_axes(operation, layout);
    find_vector(layout);
    print_position(operation);
  }

  [[nodiscard]] int vector() const { return vector_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] bool is_guarded() const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [](const TileAxis& axis) { return axis.is_guarded; });
  }
  // Vectors may be left out whole, so one path does for both.
  [[nodiscard]] bool one_path() const { return vector_ == 1 || access_.whole_vectors; }

  // Whether the whole tile lies in the array, which all threads agree on.
  [[nodiscard]] std::string inside() const {
    std::string text;
    for (const TileAxis& axis : axes_) {
      if (!axis.is_guarded) continue;
      text += (text.empty() ? "" : " && ") + axis.origin + " >= 0 && " + axis.origin +
              " <= " + axis.extent + " - " + std::to_string(axis.size);
    }
    return text;
  }

  // Whether the element in register `number` lies in the array.
  [[nodiscard]] std::string guard(const std::string& number, int vector = 1) const {
    std::string text;
    for (const TileAxis& axis : axes_) {
      if (!axis.is_guarded) continue;
      const std::string part = Printer::register_part(without_low_bits(axis, vector), number);
      const std::string index = axis.index + (part == "0" ? "" : " + i32(" + part + ")");
      const std::string kind = axis.index_type == "i64" ? "u64" : "u32";
      text += (text.empty() ? "" : " && ") + kind + "(" + index + ") < " + kind + "(" +
              axis.extent + ")";
    }
    return text;
  }

  // The address of the element in register `number`.
  [[nodiscard]] std::string address(const std::string& number, int vector = 1) const {
    std::string text = pointer_;
    for (const TileAxis& axis : axes_) {
      const std::string part = Printer::register_part(without_low_bits(axis, vector), number);
      if (part == "0") continue;
      text += axis.stride == "1" ? " + (" + part + ")" : " + i64(" + part + ") * " + axis.stride;
    }
    return text;
  }

 private:
  // The lowest bits of a vector's first register are zero.
  static std::vector<int> without_low_bits(const TileAxis& axis, int vector) {
    std::vector<int> registers = axis.registers;
    for (std::size_t bit = 0; 1 << bit < vector; ++bit) registers[bit] = -1;
    return registers;
  }

  void add_axes(const Operation& operation, const Layout& layout) {
    const std::vector<Operand>& origin = operation.group("origin");
    const std::vector<Operand>& shape = operation.group("shape");
    const std::vector<Operand>& strides = operation.group("strides");
    for (std::size_t i = 0; i < origin.size(); ++i) {
      TileAxis axis;
      axis.origin = printer_.scalar(origin[i]);
      axis.extent = i < shape.size() ? printer_.scalar(shape[i]) : "0";
      axis.stride = printer_.scalar(strides[i]);
      axis.size = type_.is_tile() ? type_.shape[i] : 1;
      const bool wide = is_wide(origin[i]) || (i < shape.size() && is_wide(shape[i]));
      axis.index_type = wide ? "i64" : "i32";
      const bool literal =
          origin[i].value == nullptr && i < shape.size() && shape[i].value == nullptr;
      axis.is_guarded =
          operation.integer("bounds", 1) != 0 && i < shape.size() &&
          !(literal && origin[i].literal >= 0 && origin[i].literal + axis.size <= shape[i].literal);
      std::string part = "0";
      if (type_.is_tile()) {
        const auto [first, count] = axis_bits(type_, i);
        std::vector<int> map(static_cast<std::size_t>(type_.index_bits()), -1);
        for (int bit = 0; bit < count; ++bit) map[static_cast<std::size_t>(first + bit)] = bit;
        const auto place = [&](const std::vector<int>& bits) {
          std::vector<int> places;
          for (const int bit : bits)
            places.push_back(bit < 0 ? -1 : map[static_cast<std::size_t>(bit)]);
          return places;
        };
        axis.registers = place(layout.registers);
        part = Printer::thread_part(place(layout.lanes), place(layout.warps));
      }
      if (part == "0") {
        axis.index = axis.origin;
      } else {
        axis.index = stem_ + "_" + std::to_string(i);
        const std::string sum =
            axis.origin == "0" ? "i32(" + part + ")" : axis.origin + " + i32(" + part + ")";
        printer_.out().line(axis.index_type + " " + axis.index + " = " + sum + ";");
      }
      axes_.push_back(std::move(axis));
    }
  }

  void find_vector(const Layout& layout) {
    if (!type_.is_tile() || !access_.is_contiguous) return;
    const int first = axis_bits(type_, access_.contiguous_axis).first;
    int run = 0;
    while (run < static_cast<int>(layout.registers.size()) &&
           layout.registers[static_cast<std::size_t>(run)] == first + run)
      ++run;
    vector_ = std::min(access_.vector, 1 << run);
  }

  void print_position(const Operation& operation) {
    pointer_ = stem_ + "_at";
    std::string offset;
    for (const TileAxis& axis : axes_) {
      if (axis.index == "0") continue;
      const std::string wide = "i64(" + axis.index + ")";
      offset += " + " + (axis.stride == "1" ? wide : wide + " * " + axis.stride);
    }
    const bool writes = operation.is("store");
    printer_.out().line((writes ? "" : "const ") + std::string(name(type_.element)) + "* const " +
                        pointer_ + " = " + printer_.scalar(operation.operands[0]) + offset + ";");
  }

  Printer& printer_;
  const Type& type_;
  TileAccess access_;
  std::string stem_;
  std::string pointer_;
  int vector_ = 1;
  std::vector<TileAxis> axes_;
};

std::string padding(const Operation& operation, Element element) {
  const std::string pad = operation.word("pad", "undef");
  if (pad == "nan") return literal(std::nan(""), element);
  if (pad == "inf") return literal(std::numeric_limits<double>::infinity(), element);
  if (pad == "neg_inf") return literal(-std::numeric_limits<double>::infinity(), element);
  if (pad == "neg_zero")
    return is_float(element) ? literal(-0.0, element) : literal(std::int64_t{0}, element);
  return literal(std::int64_t{0}, element);
}

bool is_ordered(const Operation& operation) { return operation.word("mem", "weak") != "weak"; }

std::string guarded(const std::string& condition, const std::string& statement) {
  return condition.empty() ? statement : "if (" + condition + ") " + statement;
}

// The number of the first register of group `g`.
std::string first_of(int vector) {
  return vector == 1 ? "g" : "(g * " + std::to_string(vector) + ")";
}

// Loads vectors that lie wholly inside or outside of the array.
void print_guarded_vectors(Printer& printer, const Walk& walk, const Value& result,
                           std::string read_only, int vector, const std::string& pad) {
  Writer& out = printer.out();
  if (!read_only.empty() && printer.is_streamed(*result.source)) {
    read_only = "_stream";
    printer.need("streaming_loads.cuh");
  }
  const std::string variable = Printer::name(result);
  const int count = result.layout.register_count();
  const std::string size = std::to_string(vector);
  const std::string first = first_of(vector);
  const std::string address = walk.address(first, vector);
  const std::string guarded_load = "load_words" + read_only + "_if<" + size + ">(" +
                                   walk.guard(first, vector) + ", " + address + ", " + pad + ")";
  const std::string to = "take_apart<" + size + ">(&" + variable + "[" + first + "], ";
  const std::string groups = "TILE_EACH(g, " + std::to_string(count / vector) + ") ";
  // Most tiles lie inside as a whole, where nothing is asked of each vector. A branch on it has all
  // words in registers at once, while vectors by themselves may be loaded as they are needed.
  if (count < few_vectors * vector || !printer.may_hold(count * bytes(result.type.element) / 4)) {
    out.line(groups + to + guarded_load + ");");
    return;
  }
  const std::string words = variable + "_words";
  out.line("decltype(load_words<" + size + ">(" + walk.pointer() + ")) " + words + "[" +
           std::to_string(count / vector) + "];");
  out.line("if (" + walk.inside() + ") " + groups + words + "[g] = load_words" + read_only + "<" +
           size + ">(" + address + ");");
  out.line("else " + groups + words + "[g] = " + guarded_load + ";");
  out.line(groups + to + words + "[g]);");
}

}  // namespace

void print_load(Printer& printer, const Operation& operation) {
  const Value& result = *operation.result();
  printer.barrier(operation, 0);
  const Walk walk(printer, operation, result.layout);
  Writer& out = printer.out();
  const std::string variable = Printer::name(result);
  const std::string pad = padding(operation, result.type.element);
  const std::string function =
      is_ordered(operation) ? load_function(printer, operation, result.type.element) : "";
  const std::string read_only =
      function.empty() && !printer.is_written(operation.operand(0)) ? "_const" : "";
  const auto one = [&](const std::string& address) {
    if (!function.empty()) return function + "(" + address + ")";
    return read_only.empty() ? "*(" + address + ")" : "load_const(" + address + ")";
  };
  printer.declare(result);
  if (!result.type.is_tile()) {
    const std::string guard = walk.guard("0");
    out.line(variable + " = " +
             (guard.empty() ? one(walk.address("0"))
                            : guard + " ? " + one(walk.address("0")) + " : " + pad) +
             ";");
  } else {
    const int count = result.layout.register_count();
    const int vector = function.empty() ? walk.vector() : 1;
    const std::string first = first_of(vector);
    const std::string groups = "TILE_EACH(g, " + std::to_string(count / vector) + ") ";
    const std::string move = vector == 1 ? variable + "[g] = " + one(walk.address("g")) + ";"
                                         : "load_vector" + read_only + "<" +
                                               std::to_string(vector) + ">(&" + variable + "[" +
                                               first + "], " + walk.address(first, vector) + ");";
    const std::string slow = "TILE_EACH(r, " + std::to_string(count) + ") " + variable +
                             "[r] = " + walk.guard("r") + " ? " + one(walk.address("r")) + " : " +
                             pad + ";";
    if (!walk.is_guarded()) {
      out.line(groups + move);
    } else if (walk.one_path() && vector == 1) {
      out.line(slow);
    } else if (walk.one_path()) {
      print_guarded_vectors(printer, walk, result, read_only, vector, pad);
    } else {
      out.open("if (" + walk.inside() + ")");
      out.line(groups + move);
      out.close("} else {");
      out.open_again();
      out.line(slow);
      out.close();
    }
  }
  if (!function.empty() && operation.barriers.size() > 1) out.line("__syncthreads();");
}

void print_store(Printer& printer, const Operation& operation) {
  const Value* const tile = operation.operand(1);
  const std::string function =
      is_ordered(operation) ? store_function(printer, operation, tile->type.element) : "";
  std::size_t phase = 0;
  if (!function.empty() && operation.word("mem") == "release") {
    printer.out().line("__syncthreads();");
    ++phase;
  }
  printer.barrier(operation, phase);
  const Walk walk(printer, operation, tile == nullptr ? Layout{} : tile->layout);
  const auto one = [&](const std::string& address, const std::string& value) {
    return function.empty() ? "*(" + address + ") = " + value + ";"
                            : function + "(" + address + ", " + value + ");";
  };
  if (!tile->type.is_tile()) {
    const std::string guard = walk.guard("0");
    printer.out().line("if (tid == 0" + (guard.empty() ? "" : " && " + guard) + ") " +
                       one(walk.address("0"), printer.scalar(operation.operands[1])));
    return;
  }
  const int count = tile->layout.register_count();
  const int vector = function.empty() ? walk.vector() : 1;
  const std::string replica = Printer::is_first_replica(tile->layout);
  const bool two_paths = walk.is_guarded() && !walk.one_path();
  // What both paths store is computed once.
  const std::string array = vector > 1 || two_paths ? printer.array(*tile) : "";
  Writer& out = printer.out();
  if (!replica.empty()) out.open("if (" + replica + ")");
  const auto value = [&](const std::string& number) {
    return array.empty() ? printer.element(operation.operands[1], number)
                         : array + "[" + number + "]";
  };
  const std::string first = first_of(vector);
  const std::string groups = "TILE_EACH(g, " + std::to_string(count / vector) + ") ";
  const std::string move = vector == 1 ? one(walk.address("g"), value("g"))
                                       : "store_vector<" + std::to_string(vector) + ">(" +
                                             walk.address(first, vector) + ", &" + array + "[" +
                                             first + "]);";
  const std::string vectors =
      groups + guarded(walk.is_guarded() ? walk.guard(first, vector) : "", move);
  if (!walk.is_guarded() || (walk.one_path() && count < few_vectors * vector)) {
    out.line(vectors);
  } else {
    out.open("if (" + walk.inside() + ")");
    out.line(groups + move);
    out.close("} else {");
    out.open_again();
    out.line(two_paths ? "TILE_EACH(r, " + std::to_string(count) + ") " +
                             guarded(walk.guard("r"), one(walk.address("r"), value("r")))
                       : vectors);
    out.close();
  }
  if (!replica.empty()) out.close();
}

void print_load_at(Printer& printer, const Operation& operation) {
  const Value& result = *operation.result();
  printer.barrier(operation, 0);
  const std::string function =
      is_ordered(operation) ? load_function(printer, operation, result.type.element) : "";
  const bool read_only = function.empty() && !printer.is_written(operation.operand(0));
  const auto value = [&](const std::string& number) {
    const std::string address = printer.scalar(operation.operands[0]) + " + " +
                                printer.element(operation.operands[1], number);
    std::string load = !function.empty() ? function + "(" + address + ")"
                       : read_only       ? "load_const(" + address + ")"
                                         : "*(" + address + ")";
    if (operation.group("mask").empty()) return load;
    const std::string other = operation.group("other").empty()
                                  ? literal(std::int64_t{0}, result.type.element)
                                  : printer.element(operation.group("other")[0], number);
    return printer.element(operation.group("mask")[0], number) + " ? " + load + " : " + other;
  };
  Writer& out = printer.out();
  printer.declare(result);
  const std::string variable = Printer::name(result);
  if (result.type.is_tile())
    out.line("TILE_EACH(r, " + std::to_string(result.layout.register_count()) + ") " + variable +
             "[r] = " + value("r") + ";");
  else
    out.line(variable + " = " + value("0") + ";");
  if (!function.empty() && operation.barriers.size() > 1) out.line("__syncthreads();");
}

void print_store_at(Printer& printer, const Operation& operation) {
  const Value* const tile = operation.operand(2);
  const std::string function =
      is_ordered(operation) ? store_function(printer, operation, tile->type.element) : "";
  std::size_t phase = 0;
  if (!function.empty() && operation.word("mem") == "release") {
    printer.out().line("__syncthreads();");
    ++phase;
  }
  printer.barrier(operation, phase);
  const auto statement = [&](const std::string& number) {
    const std::string address = printer.scalar(operation.operands[0]) + " + " +
                                printer.element(operation.operands[1], number);
    const std::string value = printer.element(operation.operands[2], number);
    const std::string mask =
        operation.group("mask").empty() ? "" : printer.element(operation.group("mask")[0], number);
    return guarded(mask, function.empty() ? "*(" + address + ") = " + value + ";"
                                          : function + "(" + address + ", " + value + ");");
  };
  Writer& out = printer.out();
  if (!tile->type.is_tile()) {
    out.line("if (tid == 0) " + statement("0"));
    return;
  }
  const std::string replica = Printer::is_first_replica(tile->layout);
  out.line(guarded(replica, "TILE_EACH(r, " + std::to_string(tile->layout.register_count()) + ") " +
                                statement("r")));
}

}  // namespace cudacore::tile
