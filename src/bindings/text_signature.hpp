// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace cudacore::bindings {

/// Documentation as `inspect.signature` and `help` read it from a builtin: "name(x, *, y=None)",
/// and two dashes, before the text. Python keeps them out of __doc__.
[[nodiscard]] std::string with_signature(const std::string& name, const std::string& parameters,
                                         const std::string& doc);

/// The documentation of a class, which begins with a signature or takes any arguments: its own
/// tp_new says what is wrong with them.
[[nodiscard]] std::string describe_class(const char* qualified_name, const std::string& doc);

/// Gives every function that pybind11 made for a module and its classes its signature, as pybind11
/// itself reads arguments. Call it when the module is complete.
void add_text_signatures(const pybind11::module_& module);

}  // namespace cudacore::bindings
