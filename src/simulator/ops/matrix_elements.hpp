// SPDX-License-Identifier: Apache-2.0
//
// Elements of matrix fragments: how they are packed into registers, and which row and column of the
// matrix each belongs to.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

enum class Element : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32
};

[[nodiscard]] constexpr unsigned bits_of(Element element) noexcept {
  switch (element) {
    case Element::f64:
      return 64;
    case Element::tf32:
    case Element::f32:
    case Element::s32:
      return 32;
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::s4:
    case Element::u4:
      return 4;
    case Element::b1:
      return 1;
    default:
      return 8;
  }
}
[[nodiscard]] constexpr bool is_integer(Element element) noexcept { return element >= Element::s8; }
/// Elements per register: a register has 64 bits for f64, otherwise 32.
[[nodiscard]] constexpr unsigned per_register(Element element) noexcept {
  return element == Element::f64 ? 1 : 32 / bits_of(element);
}

enum class Arrangement : std::uint8_t {
  mma_a,  ///< for mma: 8 rows per register, 4 lanes per row
  mma_b,
  mma_c,
  quad_a_row,  ///< for mma.m8n8k4.f16: four products, each by two quads of lanes
  quad_a_col,
  quad_b_row,
  quad_b_col,
  quad_c_f16,
  quad_c_f32,
  opaque,          ///< for wmma, whose fragments only wmma reads: row by row
  opaque_columns,  ///< column by column
};

/// A matrix in the registers of a warp.
struct Fragment {
  Element element;
  std::uint8_t registers;  ///< per lane
  std::uint16_t rows;
  std::uint16_t columns;
  Arrangement arrangement;
};

struct Cell {
  unsigned row;
  unsigned column;
};

/// The cell of element i of a register of a lane.
[[nodiscard]] constexpr Cell cell_of(const Fragment& fragment, unsigned lane, unsigned reg,
                                     unsigned i) noexcept {
  const unsigned per = per_register(fragment.element);
  const unsigned group = lane >> 2;
  const unsigned member = lane & 3;
  const unsigned half = lane >> 4;  // of the quads of mma.m8n8k4
  const unsigned index = reg * per + i;
  switch (fragment.arrangement) {
    case Arrangement::mma_a: {
      const bool tall = fragment.rows == 16;
      const unsigned block = tall ? reg / 2 : reg;
      return {group + (tall ? 8 * (reg % 2) : 0), 4 * per * block + member * per + i};
    }
    case Arrangement::mma_b:
      return {4 * per * reg + member * per + i, group};
    case Arrangement::mma_c:
      return {group + 8 * (index / 2), member * 2 + index % 2};
    case Arrangement::quad_a_row:
      return {member + 4 * half, index};
    case Arrangement::quad_a_col:
      return {index + 4 * half, member};
    case Arrangement::quad_b_row:
      return {member, index + 4 * half};
    case Arrangement::quad_b_col:
      return {index, member + 4 * half};
    case Arrangement::quad_c_f16:
      return {member + 4 * half, index};
    case Arrangement::quad_c_f32:
      return {(lane & 1) + (index & 2) + 4 * half, (index & 4) + (lane & 2) + (index & 1)};
    case Arrangement::opaque:
    case Arrangement::opaque_columns: {
      const unsigned cell =
          ((reg * warp_size + lane) * per + i) % (unsigned{fragment.rows} * fragment.columns);
      if (fragment.arrangement == Arrangement::opaque_columns) {
        return {cell % fragment.rows, cell / fragment.rows};
      }
      return {cell / fragment.columns, cell % fragment.columns};
    }
  }
  return {};
}

/// Which of the four products of mma.m8n8k4.f16 a lane works for.
[[nodiscard]] constexpr unsigned quad_of(unsigned lane) noexcept { return lane % 16 / 4; }

}  // namespace cudacore::simulator
