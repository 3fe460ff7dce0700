// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tile/combine_function.hpp"
#include "tile/exchange.hpp"
#include "tile/operations.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

class Reduction {
 public:
  Reduction(Printer& printer, const Operation& operation)
      : printer_(printer),
        operation_(operation),
        source_(operation.operand(0)->layout),
        result_(mapped(source_, without_axis(operation.operand(0)->type, axis_of(operation)))),
        count_(1 << result_.registers.size()),
        first_(axis_bits(operation.operand(0)->type, axis_of(operation)).first),
        bits_(axis_bits(operation.operand(0)->type, axis_of(operation)).second),
        combine_(printer, operation) {}

  void print() {
    declare();
    within_threads();
    within_warps();
    if (crosses_warps(operation_)) between_warps();
  }

 private:
  [[nodiscard]] bool in_axis(int bit) const { return bit >= first_ && bit < first_ + bits_; }

  [[nodiscard]] std::vector<std::string> results(const std::string& number) const {
    std::vector<std::string> texts;
    for (const Value* const result : operation_.results)
      texts.push_back(Printer::name(*result) + (result->type.is_tile() ? "[" + number + "]" : ""));
    return texts;
  }

  void declare() {
    for (const Value* const result : operation_.results) printer_.declare(*result);
  }

  [[nodiscard]] static std::vector<std::string> elements(const std::vector<std::string>& arrays,
                                                         const std::string& number) {
    std::vector<std::string> texts;
    for (const std::string& array : arrays) texts.push_back(array + "[" + number + "]");
    return texts;
  }

  // Folds the elements that each thread has.
  void within_threads() {
    std::vector<int>
        others;            // for the bits of a result's register: places in the operand's register
    std::vector<int> own;  // the same for the bits of the axis, in ascending order
    std::vector<std::pair<int, int>> axis;
    for (int i = 0; i < static_cast<int>(source_.registers.size()); ++i) {
      const int bit = source_.registers[static_cast<std::size_t>(i)];
      if (in_axis(bit))
        axis.emplace_back(bit, i);
      else
        others.push_back(i);
    }
    std::sort(axis.begin(), axis.end());
    for (const auto& [bit, place] : axis) own.push_back(place);
    const int length = 1 << own.size();
    const std::string row = Printer::register_part(others, "o");
    std::vector<std::string> operands;
    const bool once = length == 1;
    if (!once)
      for (const Operand& operand : operation_.operands)
        operands.push_back(printer_.array(*operand.value));
    Writer& out = printer_.out();
    if (once) {
      for (std::size_t i = 0; i < operation_.operands.size(); ++i)
        out.line("TILE_EACH(o, " + std::to_string(count_) + ") " + results("o")[i] + " = " +
                 printer_.element(operation_.operands[i], row) + ";");
      return;
    }
    // Several partial results at a time keep the arithmetic units busy.
    const int parts = count_ >= 4 || length < 8 ? 1 : 4;
    out.open("TILE_EACH(o, " + std::to_string(count_) + ")");
    std::vector<std::string> partial;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      partial.push_back(printer_.fresh("part"));
      out.line(std::string(name(operation_.operand(i)->type.element)) + " " + partial[i] + "[" +
               std::to_string(parts) + "];");
    }
    const std::string start = "p * " + std::to_string(length / parts);
    const auto at = [&](const std::string& k) {
      const std::string column = Printer::register_part(own, "(" + k + ")");
      return row == "0" ? column : row + " + " + column;
    };
    for (std::size_t i = 0; i < operands.size(); ++i)
      out.line("TILE_EACH(p, " + std::to_string(parts) + ") " + partial[i] +
               "[p] = " + operands[i] + "[" + at(start) + "];");
    out.line("TILE_EACH(k, " + std::to_string(length / parts - 1) + ") TILE_EACH(p, " +
             std::to_string(parts) + ") " +
             combine_.call(elements(partial, "p"), elements(operands, at(start + " + k + 1"))));
    if (parts > 1)
      out.line("TILE_EACH(p, " + std::to_string(parts - 1) + ") " +
               combine_.call(elements(partial, "0"), elements(partial, "p + 1")));
    for (std::size_t i = 0; i < operands.size(); ++i)
      out.line(results("o")[i] + " = " + partial[i] + "[0];");
    out.close();
  }

  void within_warps() {
    std::vector<std::pair<int, int>> axis;
    for (int lane = 0; lane < 5; ++lane)
      if (in_axis(source_.lanes[static_cast<std::size_t>(lane)]))
        axis.emplace_back(source_.lanes[static_cast<std::size_t>(lane)], lane);
    if (axis.empty()) return;
    std::sort(axis.begin(), axis.end());
    printer_.need("shuffle.cuh");
    Writer& out = printer_.out();
    for (const auto& [bit, lane] : axis) {
      out.open("TILE_EACH(o, " + std::to_string(count_) + ")");
      const std::string mask = std::to_string(1 << lane);
      std::vector<std::string> others;
      const std::vector<std::string> own = results("o");
      for (std::size_t i = 0; i < own.size(); ++i) {
        others.push_back(printer_.fresh("other"));
        out.line(std::string(name(operation_.results[i]->type.element)) + " " + others[i] +
                 " = shuffle_xor(" + own[i] + ", " + mask + ");");
      }
      // All lanes see the two in the same order.
      if (!combine_.is_commutative()) {
        std::string swaps;
        for (std::size_t i = 0; i < own.size(); ++i)
          swaps += " swap(" + own[i] + ", " + others[i] + ");";
        out.line("if (tid & " + mask + ") {" + swaps + " }");
      }
      out.line(combine_.call(own, others));
      out.close();
    }
  }

  void between_warps() {
    const std::int64_t rows = operation_.results[0]->type.size();
    std::vector<int> rank;  // for the bits of the warp: those of its number along the axis
    std::vector<int> axis;
    for (const int bit : source_.warps)
      if (in_axis(bit)) axis.push_back(bit);
    std::sort(axis.begin(), axis.end());
    for (const int bit : source_.warps) {
      const auto found = std::find(axis.begin(), axis.end(), bit);
      rank.push_back(found == axis.end() ? -1 : static_cast<int>(found - axis.begin()));
    }
    const int warps = 1 << axis.size();
    const std::string mine = Printer::thread_part(std::vector<int>(5, -1), rank);
    const std::string part = Printer::register_part(result_.registers, "o");
    const std::string thread = Printer::thread_part(result_.lanes, result_.warps);
    const std::string row = thread == "0" ? part : part == "0" ? thread : thread + " + " + part;
    Layout writers = source_;
    for (std::size_t i = 0; i < 5; ++i) writers.lanes[i] = result_.lanes[i];
    const std::string first = Printer::is_first_replica(writers);
    std::vector<std::string> arrays;
    std::int64_t offset = operation_.scratch_offset;
    printer_.barrier(operation_, 0);
    Writer& out = printer_.out();
    for (std::size_t i = 0; i < operation_.results.size(); ++i) {
      const Element element = operation_.results[i]->type.element;
      arrays.push_back(Printer::shared(element, offset));
      offset += (rows * warps * bytes(element) + 15) / 16 * 16;
      out.line((first.empty() ? "" : "if (" + first + ") ") + "TILE_EACH(o, " +
               std::to_string(count_) + ") " + arrays[i] + "[(" + mine + ") * " +
               std::to_string(rows) + " + " + row + "] = " + results("o")[i] + ";");
    }
    printer_.barrier(operation_, 1);
    out.open("TILE_EACH(o, " + std::to_string(count_) + ")");
    // Neighbors are combined, then neighbors of these, so that few operations wait for one another.
    std::vector<std::string> parts;
    const std::string count = std::to_string(warps);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      parts.push_back(printer_.fresh("parts"));
      out.line(std::string(name(operation_.results[i]->type.element)) + " " + parts[i] + "[" +
               count + "];");
      out.line("TILE_EACH(w, " + count + ") " + parts[i] + "[w] = " + arrays[i] + "[" +
               (rows == 1 ? "w" : "w * " + std::to_string(rows)) + " + " + row + "];");
    }
    for (int step = 1; step < warps; step *= 2) {
      const std::string one = "w * " + std::to_string(2 * step);
      out.line(
          "TILE_EACH(w, " + std::to_string(warps / (2 * step)) + ") " +
          combine_.call(elements(parts, one), elements(parts, one + " + " + std::to_string(step))));
    }
    for (std::size_t i = 0; i < arrays.size(); ++i)
      out.line(results("o")[i] + " = " + parts[i] + "[0];");
    out.close();
  }

  Printer& printer_;
  const Operation& operation_;
  Layout source_;
  Layout result_;
  int count_;
  int first_;
  int bits_;
  CombineFunction combine_;
};

}  // namespace

void print_reduce(Printer& printer, const Operation& operation) {
  Reduction(printer, operation).print();
}

}  // namespace cudacore::tile
