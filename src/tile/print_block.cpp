// SPDX-License-Identifier: Apache-2.0
#include "tile/exchange.hpp"
#include "tile/layout_graph.hpp"
#include "tile/operations.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {
namespace {

std::string sum(const std::string& a, const std::string& b) {
  if (a == "0") return b;
  return b == "0" ? a : a + " + " + b;
}

// The expression of an element's row-major index in a tile of this layout.
std::string index_of(const Layout& layout, const std::string& number) {
  return sum(Printer::thread_part(layout.lanes, layout.warps),
             Printer::register_part(layout.registers, number));
}

void print_extract(Printer& printer, const Operation& operation) {
  const Value& from = *operation.operand(0);
  const Value& to = *operation.result();
  const std::vector<Operand>& index = operation.group("index");
  const std::vector<int> map = block_bits(from.type, to.type);
  Writer& out = printer.out();
  if (!natural_layout(operation).empty()) {
    // The bits of the register that say which block are the index's.
    int fixed = 0;
    std::vector<int> places;
    for (int i = 0; i < static_cast<int>(from.layout.registers.size()); ++i) {
      const int bit = from.layout.registers[static_cast<std::size_t>(i)];
      if (map[static_cast<std::size_t>(bit)] >= 0) {
        places.push_back(i);
        continue;
      }
      for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const int first = axis_bits(from.type, axis).first + axis_bits(to.type, axis).second;
        const int end = axis_bits(from.type, axis).first + axis_bits(from.type, axis).second;
        if (bit >= first && bit < end && ((index[axis].literal >> (bit - first)) & 1) != 0)
          fixed |= 1 << i;
      }
    }
    const std::string array = printer.array(from);
    const std::string number = sum(Printer::register_part(places, "\x01"), std::to_string(fixed));
    printer.defer(to, array + "[" + number + "]");
    return;
  }
  // Through shared memory, from which each thread reads what the block has for it.
  const std::string array = printer.array(from);
  const std::string memory = Printer::shared(from.type.element, operation.scratch_offset);
  printer.barrier(operation, 0);
  const std::string replica = Printer::is_first_replica(from.layout);
  out.line((replica.empty() ? "" : "if (" + replica + ") ") + "TILE_EACH(r, " +
           std::to_string(from.layout.register_count()) + ") " + memory + "[" +
           index_of(from.layout, "r") + "] = " + array + "[r];");
  printer.barrier(operation, 1);
  std::vector<int> wide(
      static_cast<std::size_t>(to.type.index_bits()));  // bits of the block in the tile
  for (std::size_t bit = 0; bit < map.size(); ++bit)
    if (map[bit] >= 0) wide[static_cast<std::size_t>(map[bit])] = static_cast<int>(bit);
  const Layout source = mapped(to.layout, wide);
  std::string start;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const int shift = axis_bits(from.type, axis).first + axis_bits(to.type, axis).second;
    start += " + (u32(" + printer.scalar(index[axis]) + ") << " + std::to_string(shift) + ")";
  }
  printer.declare(to);
  const int count = to.layout.register_count();
  const std::string element = memory + "[" + index_of(source, "r") + start + "]";
  if (to.type.is_tile())
    out.line("TILE_EACH(r, " + std::to_string(count) + ") " + Printer::name(to) +
             "[r] = " + element + ";");
  else
    out.line(Printer::name(to) + " = " + memory + "[0" + start + "];");
}

void print_insert(Printer& printer, const Operation& operation) {
  const Value& tile = *operation.operand(0);
  const Value& block = *operation.operand(1);
  const Value& to = *operation.result();
  const std::vector<Operand>& index = operation.group("index");
  const std::vector<int> map = block_bits(tile.type, block.type);
  std::string condition;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const int first = axis_bits(tile.type, axis).first + axis_bits(block.type, axis).second;
    const int end = axis_bits(tile.type, axis).first + axis_bits(tile.type, axis).second;
    if (first == end) continue;
    const auto places = [&](const std::vector<int>& bits) {
      std::vector<int> result;
      for (const int bit : bits) result.push_back(bit >= first && bit < end ? bit - first : -1);
      return result;
    };
    condition += (condition.empty() ? "" : " && ") + std::string("(") +
                 sum(Printer::thread_part(places(tile.layout.lanes), places(tile.layout.warps)),
                     Printer::register_part(places(tile.layout.registers), "r")) +
                 ") == u32(" + printer.scalar(index[axis]) + ")";
  }
  std::vector<int> places;
  for (const int bit : tile.layout.registers) {
    const int own = map[static_cast<std::size_t>(bit)];
    places.push_back(own < 0 ? -1 : block.layout.register_of(own));
  }
  const std::string inserted =
      block.type.is_tile() ? printer.array(block) + "[" + Printer::register_part(places, "r") + "]"
                           : printer.scalar(operation.operands[1]);
  const std::string kept = printer.element(operation.operands[0], "r");
  Writer& out = printer.out();
  printer.declare(to);
  out.line("TILE_EACH(r, " + std::to_string(to.layout.register_count()) + ") " + Printer::name(to) +
           "[r] = " + (condition.empty() ? inserted : condition + " ? " + inserted + " : " + kept) +
           ";");
}

void print_cat(Printer& printer, const Operation& operation) {
  const Value& to = *operation.result();
  const std::string half = std::to_string(to.layout.register_count() / 2);
  Writer& out = printer.out();
  printer.declare(to);
  const std::string name = Printer::name(to);
  out.line("TILE_EACH(r, " + half + ") " + name +
           "[r] = " + printer.element(operation.operands[0], "r") + ";");
  out.line("TILE_EACH(r, " + half + ") " + name + "[r + " + half +
           "] = " + printer.element(operation.operands[1], "r") + ";");
}

void print_packed(Printer& printer, const Operation& operation) {
  const Value& from = *operation.operand(0);
  const Value& to = *operation.result();
  const std::string array = printer.array(from);
  const std::string name = Printer::name(to);
  Writer& out = printer.out();
  printer.declare(to);
  const std::string count = std::to_string(to.layout.register_count());
  if (to.type.element == Element::e2m1 && from.type.element != Element::e2m1) {
    printer.need("float8.cuh");
    out.line("TILE_EACH(r, " + count + ") " + name + "[r] = e2m1::of(((const u8*)" + array +
             ")[r / 2] >> (r % 2 * 4) & 15);");
  } else if (from.type.element == Element::e2m1 && to.type.element != Element::e2m1) {
    printer.need("float8.cuh");
    out.line("TILE_EACH(r, " + std::to_string(from.layout.register_count() / 2) + ") ((u8*)" +
             name + ")[r] = u8(" + array + "[2 * r].bits | " + array + "[2 * r + 1].bits << 4);");
  } else {
    out.line("memcpy(" + name + ", " + array + ", sizeof(" + name + "));");
  }
}

}  // namespace

void print_block(Printer& printer, const Operation& operation) {
  if (operation.is("extract")) return print_extract(printer, operation);
  if (operation.is("insert")) return print_insert(printer, operation);
  if (operation.is("cat")) return print_cat(printer, operation);
  print_packed(printer, operation);
}

}  // namespace cudacore::tile
