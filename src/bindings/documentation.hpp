// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

// The docstrings of python/cudacore/_core.pyi, which CMake compiles into the module. Whatever is
// bound takes its own from there, by name.

namespace cudacore::bindings {

/// The docstring of a function ("launch") or a class ("Buffer"), or, if `scope` is a class, of its
/// member or a base's. Null for a name that begins with an underscore and has no docstring.
/// @throw std::logic_error for any other name that the stub does not document.
[[nodiscard]] const char* documentation(pybind11::handle scope, std::string_view name);

/// The docstring of a class as inspect.signature and help read it: with the parameters in front,
/// "Device(device_id=None)".
[[nodiscard]] std::string class_documentation(const char* qualified_name);

/// Adds the docstring to a C function whose documentation is its signature so far, such as
/// "fill($self, value)".
void document(PyMethodDef& definition, pybind11::handle scope);

}  // namespace cudacore::bindings
