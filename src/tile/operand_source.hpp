// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tile/kernel.hpp"
#include "tile/operations.hpp"
#include "tile/stage.hpp"

namespace cudacore::tile {

/// An operand of mma that a load gives, through operations that cp.async and ldmatrix stand in for:
/// permute, reshape, and the cast from f32 to tf32.
struct OperandSource {
  Operation* load = nullptr;
  Stage stage;
  int batch_axis = -1;  ///< axes of the load that are the stage's; -1: of one element
  int row_axis = -1;
  int column_axis = -1;
  int chunk = 16;      ///< bytes that a copy moves
  bool whole = false;  ///< a chunk lies inside of the array or outside
};

/// Nothing if the operand comes from elsewhere, or has to pass through registers.
[[nodiscard]] std::optional<OperandSource> operand_source(const Operation& mma, std::size_t operand,
                                                          const Uses& uses);

}  // namespace cudacore::tile
