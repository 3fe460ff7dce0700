// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>
#include <utility>

// What few programs use is made when it is first named, so that an import doesn't wait for it.

namespace cudacore::bindings {

namespace py = pybind11;

/// Completes the functions and classes that were bound in a module.
void finish(const py::module_& module);

/// Calls `bind` when one of `names` of the extension module is first used; it adds them to a module
/// that it is given.
void add_later(std::initializer_list<const char*> names, std::function<void(py::module_&)> bind);
/// Makes the class of this name, of which an object is about to be made.
void make_class(const char* name);
/// The extension module's __getattr__.
/// @throw AttributeError
[[nodiscard]] py::object get_later(const std::string& name);

/// A type of named tuples, which is made when it is first used: it needs Python's collections,
/// whose import takes longer than that of a quarter of this module.
class NamedTuple {
 public:
  NamedTuple(const char* name, std::string fields) : name_(name), fields_(std::move(fields)) {}

  /// Adds its name to the extension module.
  void add() const;
  template <typename... Values>
  [[nodiscard]] py::object operator()(Values&&... values) {
    return py::handle(type())(std::forward<Values>(values)...);
  }
  [[nodiscard]] PyObject* type();

 private:
  const char* name_;
  std::string fields_;
  PyObject* type_ = nullptr;
};

}  // namespace cudacore::bindings
