// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <span>
#include <string>

namespace cudacore::bindings {

/// "f takes at most 1 positional argument, but 2 were given; give stream by name"
[[nodiscard]] std::string too_many_arguments(const std::string& function, std::size_t most,
                                             std::size_t given,
                                             std::span<const char* const> by_name_alone);
/// "f has no argument 'strem'; did you mean 'stream'?"
[[nodiscard]] std::string unknown_argument(const std::string& function, const std::string& name,
                                           std::span<const char* const> names);
/// "f has no argument 'arch'; it is an option: options={"arch": ...}"
[[nodiscard]] std::string option_given_as_argument(const std::string& function,
                                                   const std::string& name,
                                                   const std::string& parameter);

/// Sorts the arguments of a METH_FASTCALL | METH_KEYWORDS function into `values`, one borrowed
/// reference for each keyword, which keep what they held if nothing was given. The first
/// `positional` may also be given by place.
/// @throw pybind11::type_error that names the function and the argument.
void parse_keywords(const char* function, std::span<const char* const> keywords,
                    std::span<pybind11::handle> values, std::size_t positional,
                    PyObject* const* args, Py_ssize_t count, PyObject* names);

/// @throw pybind11::type_error that names the function and the first argument that is null.
void require_all(const char* function, std::span<const char* const> keywords,
                 std::span<const pybind11::handle> values);

/// parse_keywords() for a constructor, which gets a tuple and a dict; null if there are no
/// keywords. All arguments may be given by place.
void parse_keywords(const char* function, std::span<const char* const> keywords,
                    std::span<pybind11::handle> values, PyObject* args, PyObject* kwargs);

}  // namespace cudacore::bindings
