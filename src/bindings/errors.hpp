// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <utility>

#include "bindings/gil.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

/// Adds the exception classes and teaches pybind11 to raise them.
void bind_errors(py::module_& module);

/// Sets the Python error that stands for the exception being handled. Call inside a catch block.
void set_python_error() noexcept;

/// Runs the body of a C function: what it throws becomes the Python error.
template <typename Body>
PyObject* guarded(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (abi::__forced_unwind&) {
    park_thread();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace cudacore::bindings
