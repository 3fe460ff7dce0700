// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tile/exchange.hpp"
#include "tile/operations.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

// The exclusive or of what the bits of a number stand for in `positions`: each bit's own place, and
// further ones in terms of their own. `all` is the text of the sum over given places.
template <class Text>
std::string combined(const std::vector<int>& bits, const std::vector<std::int64_t>& positions,
                     const Text& text) {
  std::vector<std::vector<int>> layers;  // of places, no place twice in one
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] < 0) continue;
    std::int64_t rest = positions[static_cast<std::size_t>(bits[i])];
    for (int place = 62; place >= 0; --place) {
      if (((rest >> place) & 1) == 0) continue;
      const auto free =
          std::find_if(layers.begin(), layers.end(), [&](const std::vector<int>& layer) {
            return layer[i] < 0 && std::find(layer.begin(), layer.end(), place) == layer.end();
          });
      if (free != layers.end())
        (*free)[i] = place;
      else
        layers.emplace_back(bits.size(), -1)[i] = place;
    }
  }
  std::string result;
  for (const std::vector<int>& layer : layers)
    result += (result.empty() ? "(" : " ^ (") + text(layer) + ")";
  return result.empty() ? "0" : result;
}

std::string thread_position(const Layout& layout, const std::vector<std::int64_t>& positions) {
  std::vector<int> bits = layout.lanes;
  bits.insert(bits.end(), layout.warps.begin(), layout.warps.end());
  return combined(bits, positions, [](const std::vector<int>& places) {
    return Printer::thread_part({places.begin(), places.begin() + 5},
                                {places.begin() + 5, places.end()});
  });
}

std::string register_position(const Layout& layout, const std::vector<std::int64_t>& positions,
                              const std::string& number, const std::vector<int>& run) {
  std::vector<int> bits = layout.registers;
  for (const int place : run) bits[static_cast<std::size_t>(place)] = -1;
  return combined(bits, positions, [&](const std::vector<int>& places) {
    return Printer::register_part(places, number);
  });
}

// The registers of a thread in groups whose elements lie side by side in shared memory.
struct Runs {
  explicit Runs(const Layout& layout, int element_bytes)
      : run(run_registers(layout, element_bytes)) {
    for (int place = 0; place < static_cast<int>(layout.registers.size()); ++place)
      if (std::find(run.begin(), run.end(), place) == run.end()) rest.push_back(place);
  }

  [[nodiscard]] int length() const { return 1 << run.size(); }
  // Whether the registers of a group are neighbors.
  [[nodiscard]] bool are_whole() const {
    for (std::size_t i = 0; i < run.size(); ++i)
      if (run[i] != static_cast<int>(i)) return false;
    return true;
  }
  // The number of the first register of group `g`.
  [[nodiscard]] std::string first() const {
    if (run.empty()) return "g";
    return are_whole() ? "(g * " + std::to_string(length()) + ")"
                       : "(" + Printer::register_part(rest, "g") + ")";
  }

  std::vector<int> run;   // bits of the register's number that count within a group
  std::vector<int> rest;  // those that count groups
};

}  // namespace

void print_convert(Printer& printer, const Operation& operation) {
  const Value& from = *operation.operand(0);
  const Value& to = *operation.result();
  const Element element = from.type.element;
  const int size = bytes(element);
  const bool in_warp = exchange(from.layout, to.layout) == Exchange::warp;
  const std::vector<std::int64_t> positions =
      bank_positions(from.layout, to.layout, from.type.index_bits(), size);
  const std::string memory = Printer::shared(element, operation.scratch_offset);
  const auto move = [&](const Layout& layout, const std::string& array, bool stores) {
    const Runs runs(layout, size);
    const std::string vector = std::to_string(runs.length());
    const std::string thread = printer.fresh("position");
    Writer& out = printer.out();
    out.line("const u32 " + thread + " = " + thread_position(layout, positions) + ";");
    const std::string place = memory + " + (" + thread + " ^ (" +
                              register_position(layout, positions, runs.first(), runs.run) + "))";
    const std::string replica = stores ? Printer::is_first_replica(layout) : "";
    const std::string groups = (replica.empty() ? "" : "if (" + replica + ") ") + "TILE_EACH(g, " +
                               std::to_string(layout.register_count() / runs.length()) + ")";
    const auto statement = [&](const std::string& own) {
      return (stores ? "store_vector<" : "load_vector<") + vector + ">(" +
             (stores ? place + ", " + own : own + ", " + place) + ");";
    };
    if (runs.are_whole()) {
      out.line(groups + " " + statement("&" + array + "[" + runs.first() + "]"));
      return;
    }
    const std::string gathered = printer.fresh("run");
    const std::string one =
        array + "[" + runs.first() + " + " + Printer::register_part(runs.run, "k") + "]";
    const std::string each = "TILE_EACH(k, " + vector + ") ";
    const std::string piece = gathered + "[k]";
    out.open(groups);
    out.line("alignas(16) " + std::string(name(element)) + " " + gathered + "[" + vector + "];");
    if (stores) out.line(each + piece + " = " + one + ";");
    out.line(statement(gathered));
    if (!stores) out.line(each + one + " = " + piece + ";");
    out.close();
  };
  const std::string array = printer.array(from);
  printer.barrier(operation, 0);
  if (in_warp) printer.out().line("__syncwarp();");
  move(from.layout, array, true);
  if (in_warp)
    printer.out().line("__syncwarp();");
  else
    printer.barrier(operation, 1);
  printer.declare(to);
  move(to.layout, Printer::name(to), false);
}

}  // namespace cudacore::tile
