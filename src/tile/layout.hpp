// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudacore::tile {

/// Which elements of a tile each thread has in which register.
///
/// Each entry is a bit of the element's row-major index, or -1 where threads that differ in this
/// bit have the same elements (replicated). registers[i] is what bit i of the number of the
/// register says, lanes[i] (5 entries) that of the lane, warps[i] that of the warp. Each bit of the
/// index stands in exactly one place. Registers are never replicated.
struct Layout {
  std::vector<int> registers;
  std::vector<int> lanes;
  std::vector<int> warps;

  [[nodiscard]] int register_count() const { return 1 << registers.size(); }
  [[nodiscard]] bool empty() const { return lanes.empty(); }
  /// The bits of the row-major index that the register's number gives.
  [[nodiscard]] std::int64_t register_part(int number) const;
  /// Whether threads exist that have the same elements.
  [[nodiscard]] bool is_replicated() const;
  /// The place of a bit of the index in registers, or -1.
  [[nodiscard]] int register_of(int bit) const;
  bool operator==(const Layout&) const = default;
};

[[nodiscard]] std::string to_string(const Layout& layout);

/// The layout with each bit b replaced by map[b]; bits whose map is -1 are replicated in threads
/// and left out in registers.
[[nodiscard]] Layout mapped(const Layout& layout, const std::vector<int>& map);

/// Fills registers, lanes, warps in this order of the index's bits: vector bits to registers, then
/// lanes, then warps, then the rest to registers.
[[nodiscard]] Layout blocked(const std::vector<int>& order, int vector_bits, int warp_bits);

}  // namespace cudacore::tile
