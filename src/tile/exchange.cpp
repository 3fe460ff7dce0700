// SPDX-License-Identifier: Apache-2.0
#include "tile/exchange.hpp"

#include <algorithm>

#include "tile/operations.hpp"

namespace cudacore::tile {

Exchange exchange(const Layout& from, const Layout& to) {
  // What a thread lacks is nothing if it differs from others in the same bits, or in more of them.
  const auto covers = [&](const std::vector<int>& has, const std::vector<int>& wants) {
    for (std::size_t i = 0; i < has.size(); ++i)
      if (has[i] != wants[i]) return false;
    return true;
  };
  if (covers(from.warps, to.warps) && covers(from.lanes, to.lanes)) return Exchange::rename;
  // Warps with the same elements would write over what others still read.
  const bool shares = std::find(from.warps.begin(), from.warps.end(), -1) != from.warps.end();
  return covers(from.warps, to.warps) && !shares ? Exchange::warp : Exchange::block;
}

int run_bits(const Layout& layout, int element_bytes) {
  int run = 0;
  while (run < static_cast<int>(layout.registers.size()) &&
         layout.registers[static_cast<std::size_t>(run)] == run && (element_bytes << run) < 16)
    ++run;
  return run;
}

std::vector<std::int64_t> spread(const Layout& from, const Layout& to, int index_bits,
                                 int element_bytes) {
  std::vector<std::int64_t> position;
  for (int bit = 0; bit < index_bits; ++bit) position.push_back(std::int64_t{1} << bit);
  // Vectors of both sides stay whole; above them, the banks are the bits up to 128 bytes.
  const int whole = std::max(run_bits(from, element_bytes), run_bits(to, element_bytes));
  const int banks_end = std::min(index_bits, log2(128 / element_bytes));
  for (const Layout* const layout : {&from, &to}) {
    std::int64_t taken = 0;
    const auto bank = [&](int bit) {
      return position[static_cast<std::size_t>(bit)] & ((std::int64_t{1} << banks_end) - 1) &
             ~((std::int64_t{1} << whole) - 1);
    };
    for (const int lane : layout->lanes)
      if (lane >= 0) taken |= bank(lane);
    for (const int lane : layout->lanes) {
      if (lane < banks_end || bank(lane) != 0) continue;
      for (int free = whole; free < banks_end; ++free) {
        if (((taken >> free) & 1) != 0) continue;
        position[static_cast<std::size_t>(lane)] |= std::int64_t{1} << free;
        taken |= std::int64_t{1} << free;
        break;
      }
    }
  }
  return position;
}

int axis_warps(const Operation& operation) {
  const Value* const tile = operation.operand(0);
  const auto [first, count] = axis_bits(tile->type, axis_of(operation));
  int warps = 1;
  for (const int bit : tile->layout.warps)
    if (bit >= first && bit < first + count) warps *= 2;
  return warps;
}

bool crosses_warps(const Operation& operation) { return axis_warps(operation) > 1; }

}  // namespace cudacore::tile
