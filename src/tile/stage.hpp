// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// How an operand of mma lies in shared memory: a matrix for each batch.
struct Stage {
  Element element = Element::f32;  ///< of the stage
  int batch = 1;
  int rows = 1;
  int columns = 1;              ///< side by side
  bool inner_is_column = true;  ///< the product's inner extent runs along the columns
  bool swizzled = true;
  std::int64_t offset = 0;  ///< from the start of the ring's slot, or of the value's memory
  bool in_ring = false;     ///< one of a ring of stages that a loop fills
  std::int64_t ring = 0;    ///< number of the loop's pipeline

  [[nodiscard]] std::int64_t matrix_bytes() const;
  [[nodiscard]] std::int64_t bytes() const;
  /// The C++ type of a matrix.
  [[nodiscard]] std::string type() const;
  /// The C++ type of the operand, whose elements are multiplied as `multiplied`.
  [[nodiscard]] std::string operand_type(Element multiplied) const;

  /// Keeps the description among an operation's attributes, and reads it from there.
  void describe(Operation& operation) const;
  [[nodiscard]] static Stage of(const Operation& operation);
};

/// The stage in which an operand's elements are put one by one.
[[nodiscard]] Stage scratch_stage(const Type& operand, bool is_left, bool swizzled);

/// The name that the device code gives an element of an operand.
[[nodiscard]] std::string matrix_kind(Element element);

}  // namespace cudacore::tile
