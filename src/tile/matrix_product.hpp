// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tile/kernel.hpp"
#include "tile/layout.hpp"

namespace cudacore::tile {

/// What multiplies.
enum class Unit {
  matrix,    ///< mma.sync of 16 x 8 results and 32 bytes of the inner extent
  doubles,   ///< mma.sync of 8 x 8 x 4 in f64
  elements,  ///< the CUDA cores
};

/// How the warps of a block share an mma: batches, rows and columns of the result.
struct MatrixProduct {
  Unit unit = Unit::matrix;
  Element a = Element::f32;  ///< what is multiplied
  Element b = Element::f32;
  Element c = Element::f32;
  int batch = 1;
  int rows = 1;
  int columns = 1;
  int inner = 1;
  int warps = 1;  ///< of the block
  int warps_down = 1;
  int warps_across = 1;
  int warps_batch = 1;

  /// The layout of c and of the result: the fragments of the instruction, one after another along
  /// the columns, then the rows, then the batches.
  [[nodiscard]] Layout result_layout() const;
  /// The layout of an `a` in registers: that of a result whose columns are the inner extent.
  [[nodiscard]] Layout held_layout() const;
  /// Whether `a` may come from registers in held_layout().
  [[nodiscard]] bool may_hold() const;
  /// Registers of 32 bits that a thread needs for its part of c.
  [[nodiscard]] int result_registers() const;

  /// Expressions of the kernel's variable `tid`: the first batch, row or column of a warp.
  [[nodiscard]] std::string first_batch() const;
  [[nodiscard]] std::string first_row() const;
  [[nodiscard]] std::string first_column() const;
};

/// Shares out an mma. `chained`: its result becomes the `a` of another, so that warps keep all
/// columns of their rows.
[[nodiscard]] MatrixProduct matrix_product(const Operation& mma, int architecture, int warps,
                                           bool chained);

/// Whether the matrix instructions of an architecture take these elements; otherwise the CUDA cores
/// multiply, or the operands are converted before.
[[nodiscard]] bool has_instruction(Element a, Element b, Element c, int architecture);

}  // namespace cudacore::tile
