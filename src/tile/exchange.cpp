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

std::vector<int> run_registers(const Layout& layout, int element_bytes) {
  std::vector<int> run;
  for (int bit = 0; (element_bytes << bit) < 16; ++bit) {
    const int place = layout.register_of(bit);
    if (place < 0) break;
    run.push_back(place);
  }
  return run;
}

std::vector<std::int64_t> bank_positions(const Layout& from, const Layout& to, int index_bits,
                                         int element_bytes) {
  std::vector<std::int64_t> position;
  for (int bit = 0; bit < index_bits; ++bit) position.push_back(std::int64_t{1} << bit);
  // Vectors of both sides stay whole; above them, the banks are the bits up to 128 bytes.
  const int whole = static_cast<int>(
      std::max(run_registers(from, element_bytes).size(), run_registers(to, element_bytes).size()));
  const int banks_end = std::min(index_bits, log2(128 / element_bytes));
  for (const Layout* const layout : {&from, &to}) {
    std::int64_t taken = 0;
    const auto bank = [&](int bit) {
      return position[static_cast<std::size_t>(bit)] & ((std::int64_t{1} << banks_end) - 1) &
             ~((std::int64_t{1} << whole) - 1);
    };
    // Lanes whose vectors fill the banks take turns, so that only the first of them meet.
    const auto vector = static_cast<int>(run_registers(*layout, element_bytes).size());
    const std::size_t meeting =
        std::min<std::size_t>(5, static_cast<std::size_t>(log2(128 / element_bytes) - vector));
    const std::vector<int> lanes(layout->lanes.begin(),
                                 layout->lanes.begin() + static_cast<std::ptrdiff_t>(meeting));
    for (const int lane : lanes)
      if (lane >= 0) taken |= bank(lane);
    for (const int lane : lanes) {
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
