// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/bound_functions.hpp"

namespace cudacore::bindings {

/// Makes a function that pybind11 made say in our words what is wrong with a call: the function,
/// the argument, what it may be, and what was given.
void explain_wrong_calls(const BoundFunction& function);

}  // namespace cudacore::bindings
