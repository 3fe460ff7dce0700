// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tile/combine_function.hpp"
#include "tile/exchange.hpp"
#include "tile/operations.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

// Each thread scans its own elements; what comes before them is then found from the totals of lanes
// and warps, and combined with each.
class Scan {
 public:
  Scan(Printer& printer, const Operation& operation)
      : printer_(printer),
        operation_(operation),
        layout_(operation.operand(0)->layout),
        combine_(printer, operation),
        reverse_(operation.integer("reverse") != 0) {
    const auto [first, count] = axis_bits(operation.operand(0)->type, axis_of(operation));
    const auto in_axis = [first = first, count = count](int bit) {
      return bit >= first && bit < first + count;
    };
    for (int i = 0; i < static_cast<int>(layout_.registers.size()); ++i)
      (in_axis(layout_.registers[static_cast<std::size_t>(i)]) ? own_ : others_).push_back(i);
    for (int i = 0; i < 5; ++i)
      if (in_axis(layout_.lanes[static_cast<std::size_t>(i)])) lanes_.push_back(i);
    int rank = 0;
    for (const int bit : layout_.warps) warps_.push_back(in_axis(bit) ? rank++ : -1);
    warp_count_ = 1 << rank;
  }

  void print() {
    within_threads();
    if (lanes_.empty() && warp_count_ == 1) return;
    Writer& out = printer_.out();
    printer_.need("shuffle.cuh");
    const std::string rows = std::to_string(1 << others_.size());
    has_ = printer_.fresh("has_before");
    out.line("bool " + has_ + " = false;");
    for (std::size_t i = 0; i < operation_.results.size(); ++i) {
      const std::string type(name(operation_.results[i]->type.element));
      total_.push_back(printer_.fresh("total"));
      before_.push_back(printer_.fresh("before"));
      const std::string last = Printer::register_part(others_, "o") + " + " +
                               std::to_string(reverse_ ? 0 : last_register());
      out.line(type + " " + total_[i] + "[" + rows + "], " + before_[i] + "[" + rows + "];");
      out.line("TILE_EACH(o, " + rows + ") " + before_[i] + "[o] = " + total_[i] +
               "[o] = " + Printer::name(*operation_.results[i]) + "[" + last + "];");
    }
    within_warps();
    if (warp_count_ > 1) between_warps();
    apply();
  }

 private:
  [[nodiscard]] int last_register() const {
    int number = 0;
    for (const int place : own_) number |= 1 << place;
    return number;
  }

  [[nodiscard]] std::string at(const std::string& k) const {
    const std::string row = Printer::register_part(others_, "o");
    const std::string column = Printer::register_part(own_, "(" + k + ")");
    return row == "0" ? column : column == "0" ? row : row + " + " + column;
  }

  [[nodiscard]] std::vector<std::string> results(const std::string& number) const {
    std::vector<std::string> texts;
    for (const Value* const result : operation_.results)
      texts.push_back(Printer::name(*result) + "[" + number + "]");
    return texts;
  }

  static std::vector<std::string> rows(const std::vector<std::string>& arrays) {
    std::vector<std::string> texts;
    for (const std::string& array : arrays) texts.push_back(array + "[o]");
    return texts;
  }

  // x = f(before, x), where a statement can only change its first arguments.
  void prepend(const std::vector<std::string>& before, const std::vector<std::string>& x) {
    Writer& out = printer_.out();
    std::vector<std::string> sums;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sums.push_back(printer_.fresh("sum"));
      out.line(std::string(name(operation_.results[i]->type.element)) + " " + sums[i] + " = " +
               before[i] + ";");
    }
    out.line(combine_.call(sums, x));
    for (std::size_t i = 0; i < x.size(); ++i) out.line(x[i] + " = " + sums[i] + ";");
  }

  void within_threads() {
    const int count = layout_.register_count();
    for (std::size_t i = 0; i < operation_.results.size(); ++i) {
      const Value& result = *operation_.results[i];
      Writer& out = printer_.out();
      printer_.declare(result);
      out.line("TILE_EACH(r, " + std::to_string(count) + ") " + Printer::name(result) +
               "[r] = " + printer_.element(operation_.operands[i], "r") + ";");
    }
    const int length = 1 << own_.size();
    if (length == 1) return;
    Writer& out = printer_.out();
    out.open("TILE_EACH(o, " + std::to_string(1 << others_.size()) + ") TILE_EACH(k, " +
             std::to_string(length - 1) + ")");
    const std::string end = std::to_string(length - 1);
    if (reverse_)
      prepend(results(at(end + " - k")), results(at(end + " - 1 - k")));
    else
      prepend(results(at("k")), results(at("k + 1")));
    out.close();
  }

  // total = f(other, total), and before likewise, where `condition` holds.
  void take(const std::vector<std::string>& others, const std::string& condition) {
    Writer& out = printer_.out();
    out.open("if (" + condition + ")");
    const std::vector<std::string> before = rows(before_);
    out.open("if (" + has_ + ")");
    prepend(others, before);
    out.close("} else {");
    out.open_again();
    for (std::size_t i = 0; i < before.size(); ++i) out.line(before[i] + " = " + others[i] + ";");
    out.close();
    prepend(others, rows(total_));
    out.close();
  }

  void within_warps() {
    Writer& out = printer_.out();
    int lower = 0;  // the bits of the lane that were looked at
    for (const int lane : lanes_) {
      const int bit = 1 << lane;
      // The last lane of the half before this one.
      const std::string from =
          reverse_ ? "((tid & 31 & ~" + std::to_string(lower) + "u) | " + std::to_string(bit) + ")"
                   : "((tid & 31 & ~" + std::to_string(bit) + "u) | " + std::to_string(lower) + ")";
      const std::string condition =
          "(tid & " + std::to_string(bit) + ") " + (reverse_ ? "==" : "!=") + " 0";
      out.open("TILE_EACH(o, " + std::to_string(1 << others_.size()) + ")");
      std::vector<std::string> others;
      for (std::size_t i = 0; i < total_.size(); ++i) {
        others.push_back(printer_.fresh("other"));
        out.line("const " + std::string(name(operation_.results[i]->type.element)) + " " +
                 others[i] + " = shuffle(" + total_[i] + "[o], " + from + ");");
      }
      take(others, condition);
      out.close();
      out.line(has_ + " = " + has_ + " || " + condition + ";");
      lower |= bit;
    }
  }

  void between_warps() {
    const Layout row_layout =
        mapped(layout_, without_axis(operation_.operand(0)->type, axis_of(operation_)));
    const Type& type = operation_.operand(0)->type;
    const std::int64_t row_count = type.size() / type.shape[axis_of(operation_)];
    const std::string thread = Printer::thread_part(row_layout.lanes, row_layout.warps);
    const std::string row = thread + " + " + Printer::register_part(row_layout.registers, "o");
    const std::string mine = "(" + Printer::thread_part(std::vector<int>(5, -1), warps_) + ")";
    int axis_lanes = 0;
    for (const int lane : lanes_) axis_lanes |= 1 << lane;
    printer_.barrier(operation_, 0);
    Writer& out = printer_.out();
    std::int64_t offset = operation_.scratch_offset;
    std::vector<std::string> arrays;
    const std::string last = "(tid & " + std::to_string(axis_lanes) +
                             ") == " + std::to_string(reverse_ ? 0 : axis_lanes);
    for (std::size_t i = 0; i < total_.size(); ++i) {
      const Element element = operation_.results[i]->type.element;
      arrays.push_back(Printer::shared(element, offset));
      offset += (row_count * warp_count_ * bytes(element) + 15) / 16 * 16;
      out.line("if (" + last + ") TILE_EACH(o, " + std::to_string(1 << others_.size()) + ") " +
               arrays[i] + "[" + mine + " * " + std::to_string(row_count) + " + " + row +
               "] = " + total_[i] + "[o];");
    }
    printer_.barrier(operation_, 1);
    // From the nearest warp to the farthest, as what is nearer comes after what is farther.
    const std::string w = reverse_ ? "(w + 1)" : std::to_string(warp_count_ - 2) + " - w";
    out.open("TILE_EACH(w, " + std::to_string(warp_count_ - 1) + ")");
    out.line("const u32 warp = " + w + ";");
    const std::string condition = reverse_ ? "warp > " + mine : "warp < " + mine;
    out.open("TILE_EACH(o, " + std::to_string(1 << others_.size()) + ")");
    std::vector<std::string> others;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      others.push_back(printer_.fresh("other"));
      out.line("const " + std::string(name(operation_.results[i]->type.element)) + " " + others[i] +
               " = " + arrays[i] + "[warp * " + std::to_string(row_count) + " + " + row + "];");
    }
    take(others, condition);
    out.close();
    out.line(has_ + " = " + has_ + " || " + condition + ";");
    out.close();
  }

  void apply() {
    Writer& out = printer_.out();
    out.open("if (" + has_ + ") TILE_EACH(o, " + std::to_string(1 << others_.size()) +
             ") TILE_EACH(k, " + std::to_string(1 << own_.size()) + ")");
    prepend(rows(before_), results(at("k")));
    out.close();
  }

  Printer& printer_;
  const Operation& operation_;
  const Layout& layout_;
  CombineFunction combine_;
  bool reverse_;
  std::vector<int> own_;     // bits of the register along the axis
  std::vector<int> others_;  // the rest
  std::vector<int> lanes_;   // bits of the lane along the axis
  std::vector<int> warps_;   // for the bits of the warp: those of its number along the axis
  int warp_count_ = 1;
  std::string has_;
  std::vector<std::string> total_;
  std::vector<std::string> before_;
};

}  // namespace

void print_scan(Printer& printer, const Operation& operation) { Scan(printer, operation).print(); }

}  // namespace cudacore::tile
