// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace cudacore::bindings {

/// Makes every function that pybind11 made for a module and its classes say in our words what is
/// wrong with a call: the function, the argument, what it may be and what was given. Call it when
/// the module is complete.
void explain_wrong_calls(const pybind11::module_& module);

}  // namespace cudacore::bindings
