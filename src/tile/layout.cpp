// SPDX-License-Identifier: Apache-2.0
#include "tile/layout.hpp"

#include <algorithm>

namespace cudacore::tile {
namespace {

std::string list(const std::vector<int>& bits) {
  std::string text = "(";
  for (std::size_t i = 0; i < bits.size(); ++i)
    text += (i == 0 ? "" : " ") + std::to_string(bits[i]);
  return text + ")";
}

}  // namespace

std::int64_t Layout::register_part(int number) const {
  std::int64_t part = 0;
  for (std::size_t i = 0; i < registers.size(); ++i)
    if (((number >> i) & 1) != 0) part |= std::int64_t{1} << registers[i];
  return part;
}

bool Layout::is_replicated() const {
  const auto replicated = [](const std::vector<int>& bits) {
    return std::find(bits.begin(), bits.end(), -1) != bits.end();
  };
  return replicated(lanes) || replicated(warps);
}

int Layout::register_of(int bit) const {
  const auto found = std::find(registers.begin(), registers.end(), bit);
  return found == registers.end() ? -1 : static_cast<int>(found - registers.begin());
}

std::string to_string(const Layout& layout) {
  return "registers " + list(layout.registers) + " lanes " + list(layout.lanes) + " warps " +
         list(layout.warps);
}

Layout mapped(const Layout& layout, const std::vector<int>& map) {
  Layout result;
  const auto renamed = [&](int bit) { return bit < 0 ? -1 : map[static_cast<std::size_t>(bit)]; };
  for (const int bit : layout.registers)
    if (renamed(bit) >= 0) result.registers.push_back(renamed(bit));
  for (const int bit : layout.lanes) result.lanes.push_back(renamed(bit));
  for (const int bit : layout.warps) result.warps.push_back(renamed(bit));
  return result;
}

Layout blocked(const std::vector<int>& order, int vector_bits, int warp_bits) {
  Layout layout;
  std::size_t next = 0;
  const auto take = [&] { return next < order.size() ? order[next++] : -1; };
  for (int i = 0; i < vector_bits && next < order.size(); ++i) layout.registers.push_back(take());
  for (int i = 0; i < 5; ++i) layout.lanes.push_back(take());
  for (int i = 0; i < warp_bits; ++i) layout.warps.push_back(take());
  while (next < order.size()) layout.registers.push_back(take());
  return layout;
}

}  // namespace cudacore::tile
