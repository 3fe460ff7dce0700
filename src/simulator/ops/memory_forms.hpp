// SPDX-License-Identifier: Apache-2.0
//
// The parts of the keys of loads and stores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/engine/memory_access.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: tables of files that are compiled for several ISAs

/// 128 bits of a register.
struct alignas(16) Wide {
  std::uint64_t low;
  std::uint64_t high;
};

struct MemoryType {
  const char* name;
  unsigned width;  ///< index of width_letters: 1, 2, 4, 8, 16 bytes
};
constexpr MemoryType memory_types[] = {{".b8", 0},  {".u8", 0},  {".s8", 0},  {".b16", 1},
                                       {".u16", 1}, {".s16", 1}, {".b32", 2}, {".u32", 2},
                                       {".s32", 2}, {".f32", 2}, {".b64", 3}, {".u64", 3},
                                       {".s64", 3}, {".f64", 3}, {".b128", 4}};
constexpr char width_letters[] = {'b', 'h', 'w', 'x', 'q'};

struct MemoryVector {
  const char* name;
  unsigned count;
};
constexpr MemoryVector memory_vectors[] = {{"", 1}, {".v2", 2}, {".v4", 4}, {".v8", 8}};

/// Whether PTX has vectors of that many elements: up to 256 bits, and eight elements only if they
/// have 32 bits.
constexpr bool is_vector(unsigned width, unsigned vector) {
  if (vector == 0) return true;
  if (vector == 3) return width == 2;
  return width < 4;
}

/// Whether 32-bit registers can hold addresses of a space.
template <Space space>
constexpr bool has_narrow_addresses = space == Space::shared || space == Space::local;

}  // namespace
}  // namespace cudacore::simulator
