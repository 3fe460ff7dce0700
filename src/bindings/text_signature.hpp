// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings/bound_functions.hpp"

namespace cudacore::bindings {

/// Documentation as `inspect.signature` and `help` read it from a builtin: "name(x, *, y=None)",
/// and two dashes, before the text. Python keeps them out of __doc__.
[[nodiscard]] std::string with_signature(const std::string& name, const std::string& parameters,
                                         const std::string& doc);

/// Adds to the documentation of a function its signature, as pybind11 itself reads arguments.
void add_text_signature(const BoundFunction& function);

}  // namespace cudacore::bindings
