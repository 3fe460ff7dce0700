// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/strided_view.hpp"

// Other views of the same memory.

namespace cudacore::bindings {

/// view[index]: ints, slices, None and an Ellipsis.
/// @throw IndexError, TypeError
[[nodiscard]] StridedView at_index(const StridedView& view, const py::object& index);

/// The same elements in C order under another shape: ints, or one tuple of ints.
/// @throw std::invalid_argument if they would have to be copied.
[[nodiscard]] StridedView reshaped(const StridedView& view, const py::args& shape);

/// The dimensions in another order, by default reversed.
[[nodiscard]] StridedView transposed(const StridedView& view, const py::args& axes);

}  // namespace cudacore::bindings
