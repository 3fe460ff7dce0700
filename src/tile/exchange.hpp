// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// How `convert` brings a tile from one layout to another.
enum class Exchange {
  rename,  ///< each thread has what it needs, in other registers
  warp,    ///< through shared memory, within each warp
  block,   ///< through shared memory, between warps
};

[[nodiscard]] Exchange exchange(const Layout& from, const Layout& to);

/// For each bit of a row-major index, what it changes in the position in shared memory: itself, and
/// bits that spread neighbors in either layout over the banks.
[[nodiscard]] std::vector<std::int64_t> bank_positions(const Layout& from, const Layout& to,
                                                       int index_bits, int element_bytes);

/// The bits of the register's number that give the lowest bits of the index, from bit 0 on:
/// elements that lie side by side in shared memory and move at once.
[[nodiscard]] std::vector<int> run_registers(const Layout& layout, int element_bytes);

/// The number of warps that the axis of a reduce or scan is spread over.
[[nodiscard]] int axis_warps(const Operation& operation);

/// Whether partial results of a reduce or scan go through shared memory.
[[nodiscard]] bool crosses_warps(const Operation& operation);

}  // namespace cudacore::tile
