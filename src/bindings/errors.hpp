// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/gil.hpp"
#include "cudacore/error.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

/// Adds the exception classes and teaches pybind11 to raise them.
void bind_errors(py::module_& module);

/// What Python code raised inside the library that `except Exception` must not catch, such as
/// KeyboardInterrupt: it is passed on, never just reported.
class PythonInterrupt : public InterruptedError {
 public:
  explicit PythonInterrupt(const py::error_already_set& raised)
      : InterruptedError(raised.what()), raised_(raised) {}
  /// Sets the Python error, once.
  void restore() { raised_.restore(); }

 private:
  py::error_already_set raised_;
};

/// A MemoryError that Python code raised inside the library.
class PythonOutOfMemory : public OutOfMemoryError {
 public:
  explicit PythonOutOfMemory(const py::error_already_set& raised)
      : OutOfMemoryError(raised.what(), 0, {}, {}), raised_(raised) {}
  /// Sets the Python error, once.
  void restore() { raised_.restore(); }

 private:
  py::error_already_set raised_;
};

/// Sets the Python error that stands for the exception being handled. Call inside a catch block.
void set_python_error() noexcept;

/// Adds the exception classes that raise_as_both() raises. They stay in the extension module.
void bind_errors_of_both(py::module_& module);

/// Raises an error of two built-in classes at once. If cuda.core raises another class than
/// cudacore, programs written for either catch it.
[[noreturn]] void raise_as_both(PyObject* ours, PyObject* theirs, const std::string& message);

/// Runs a body whose std::invalid_argument programs for cuda.core catch as a RuntimeError.
template <typename Body>
decltype(auto) runtime_error_too(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::invalid_argument& error) {
    raise_as_both(PyExc_ValueError, PyExc_RuntimeError, error.what());
  }
}

/// The first line of an exception's message; a library written in C++ may append a stack trace.
[[nodiscard]] std::string exception_message(const py::error_already_set& raised);
/// "ValueError: the message"
[[nodiscard]] std::string exception_text(const py::error_already_set& raised);

/// The new reference that a CPython function returned.
/// @throw pybind11::error_already_set if it is null.
template <typename T = py::object>
[[nodiscard]] T checked(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<T>(made);
}

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

/// Runs the body of a C function that returns 0, or -1 with a Python error set.
template <typename Body>
int status_of(Body&& body) noexcept {
  const PyObject* done = guarded([&]() -> PyObject* {
    std::forward<Body>(body)();
    return Py_None;
  });
  return done == nullptr ? -1 : 0;
}

}  // namespace cudacore::bindings
