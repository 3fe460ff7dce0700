// SPDX-License-Identifier: Apache-2.0
//
// The messages for invalid accesses: what was tried, and what is nearest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/engine/memory_access.hpp"

namespace cudacore::simulator {

struct AccessPlace {
  Space space = Space::generic;
  std::uint64_t address = 0;
  std::size_t size = 0;
  Access access = Access::read;
  unsigned lane = 0;
};

void fault_misaligned(Warp& warp, const Instruction& in, const AccessPlace& place,
                      std::size_t align) noexcept;
void fault_read_only(Warp& warp, const Instruction& in, const AccessPlace& place) noexcept;
/// An access that is outside of any allocation, only partly inside one, or inside one of a device
/// that the grid may not access.
void fault_outside(Warp& warp, const Instruction& in, const AccessPlace& place) noexcept;

}  // namespace cudacore::simulator
