// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cudacore/strided_memory.hpp"

namespace cudacore {

/// One dimension of what is copied or filled: its length, and the bytes between neighbors in each
/// of the arrays, which are not negative.
struct StridedDimension {
  std::int64_t length = 0;
  std::array<std::int64_t, 2> strides{};
};

/// What two arrays of one shape have in common for a copy, or one array for a fill, whose second
/// half is the same as its first.
struct StridedShape {
  std::array<CUdeviceptr, 2> addresses{};    ///< of the element that lies lowest
  std::vector<StridedDimension> dimensions;  ///< the outermost in the first array first
  bool is_empty = false;

  /// Dimensions that one array goes through forwards, and the other backwards, are refused. So are
  /// elements that share memory, unless they are read only.
  /// @throw std::invalid_argument, NotSupportedError
  StridedShape(const char* function, const StridedMemory& destination, const StridedMemory& source,
               std::size_t item_size);

  /// Removes the innermost dimension if its elements lie side by side in both arrays, and returns
  /// their bytes; otherwise returns those of one element.
  [[nodiscard]] std::size_t take_row(std::size_t item_size);
};

}  // namespace cudacore
