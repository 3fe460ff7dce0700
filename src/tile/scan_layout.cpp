// SPDX-License-Identifier: Apache-2.0
#include "tile/scan_layout.hpp"

#include <algorithm>

#include "tile/operations.hpp"

namespace cudacore::tile {
namespace {

bool ascends(const Layout& layout, int first, int count) {
  int next = first;
  for (const std::vector<int>* const places : {&layout.registers, &layout.lanes, &layout.warps})
    for (const int bit : *places)
      if (bit >= first && bit < first + count && bit != next++) return false;
  return true;
}

}  // namespace

Layout scan_layout(const Type& type, std::size_t axis, const Layout& own, const Target& target) {
  const auto [first, count] = axis_bits(type, axis);
  if (ascends(own, first, count)) return own;
  const int threads = 5 + log2(target.warps);
  const int in_registers = std::max(0, type.index_bits() - threads);
  std::vector<int> axis_order;
  for (int bit = 0; bit < count; ++bit) axis_order.push_back(first + bit);
  std::vector<int> others;
  for (int bit = 0; bit < type.index_bits(); ++bit)
    if (bit < first || bit >= first + count) others.push_back(bit);
  Layout layout;
  std::size_t next = 0;
  std::size_t other = 0;
  while (static_cast<int>(layout.registers.size()) < in_registers)
    layout.registers.push_back(next < axis_order.size() ? axis_order[next++] : others[other++]);
  const auto take = [&] {
    if (next < axis_order.size()) return axis_order[next++];
    return other < others.size() ? others[other++] : -1;
  };
  for (int i = 0; i < 5; ++i) layout.lanes.push_back(take());
  for (int i = 5; i < threads; ++i) layout.warps.push_back(take());
  return layout;
}

}  // namespace cudacore::tile
