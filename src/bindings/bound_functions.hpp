// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>

namespace cudacore::bindings {

/// A function that pybind11 made.
struct BoundFunction {
  std::string name;  ///< "Stream.wait"; "Device" for an __init__
  const pybind11::detail::function_record& record;
  PyMethodDef& definition;
  bool is_accessor;  ///< of a property
};

/// Visits every function that pybind11 made for a complete module and its classes.
void for_each_function(const pybind11::module_& module,
                       const std::function<void(const BoundFunction&)>& visit);

}  // namespace cudacore::bindings
