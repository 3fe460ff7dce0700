// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "bindings/heap_type.hpp"

// How arguments about conditions are read.

namespace cudacore::bindings {

/// @throw py::type_error for anything else
[[nodiscard]] GraphCondition to_condition(py::handle object);
/// The default value of a condition; None for no default.
/// @throw std::overflow_error if it doesn't fit
[[nodiscard]] std::optional<unsigned> to_condition_value(py::handle value);

}  // namespace cudacore::bindings
