// SPDX-License-Identifier: Apache-2.0
//
// What the lanes of a warp do together: they wait until all participants have arrived, then one of
// them does it for all. They may be at several instructions of the same kind, and in several calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

template <class T>
using Row = std::array<T, warp_size>;

/// Lanes that are at an instruction.
struct Part {
  std::byte* rows;
  const Instruction* in;
  std::uint32_t lanes;

  template <class T>
  [[nodiscard]] T* row(unsigned operand) const noexcept {
    return reinterpret_cast<T*>(rows + in->op[operand]);
  }
  /// A row of the vector operand {a, b, ...}.
  template <class T>
  [[nodiscard]] T* element(unsigned operand, unsigned index) const noexcept {
    return reinterpret_cast<T*>(rows + in->list[in->op[operand] + index]);
  }
  [[nodiscard]] std::uint32_t& mask(unsigned operand) const noexcept {
    return *row<std::uint32_t>(operand);
  }
  void set_mask(unsigned operand, std::uint32_t bits) const noexcept {
    mask(operand) = (mask(operand) & ~lanes) | (bits & lanes);
  }
  [[nodiscard]] bool has(unsigned lane) const noexcept { return (lanes >> lane & 1) != 0; }
  /// Writes this part's lanes of a row.
  template <class T>
  void write(T* to, const Row<T>& values) const noexcept {
    if (lanes == ~std::uint32_t{0}) {
      std::copy_n(values.begin(), warp_size, to);
      return;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (has(lane)) to[lane] = values[lane];
    }
  }
};
using Parts = std::span<const Part>;

/// A row of all lanes, wherever they are: `find(part)` is the row of a part.
template <class T, class Find>
[[nodiscard]] Row<T> gather_rows(Parts parts, Find find) {
  alignas(64) Row<T> values;
  std::copy_n(find(parts[0]), warp_size, values.begin());
  for (const Part& part : parts.subspan(1)) {
    const T* const from = find(part);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (part.has(lane)) values[lane] = from[lane];
    }
  }
  return values;
}

/// Does the work for the lanes of all parts.
using Together = void (*)(Warp& warp, Parts parts, std::uint32_t members);

/// Runs `together` once all living lanes in `named` have arrived; until then, parks the lanes.
void run_together(Warp& warp, const Instruction& in, std::uint32_t named, std::uint32_t lanes,
                  Together together);

}  // namespace cudacore::simulator
