// SPDX-License-Identifier: Apache-2.0
#include "bindings/keywords.hpp"

#include <string>
#include <vector>

#include "bindings/suggestion.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

std::string too_many_arguments(const std::string& function, std::size_t most, std::size_t given) {
  return function + " takes " + (most == 0 ? "no" : "at most " + std::to_string(most)) +
         " positional argument" + (most == 1 ? "" : "s") + ", but " + std::to_string(given) +
         (given == 1 ? " was" : " were") + " given";
}

std::string unknown_argument(const std::string& function, const std::string& name,
                             std::span<const char* const> names) {
  return function + " has no argument '" + name + "'" + did_you_mean(name, names);
}

void parse_keywords(const char* function, std::span<const char* const> keywords,
                    std::span<py::handle> values, std::size_t positional, PyObject* const* args,
                    Py_ssize_t count, PyObject* names) {
  const auto given = static_cast<std::size_t>(count);
  if (given > positional) {
    throw py::type_error(too_many_arguments(function, positional, given));
  }
  for (std::size_t i = 0; i < given; ++i) {
    values[i] = args[i];
  }
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t n = 0; n < named; ++n) {
    PyObject* name = PyTuple_GET_ITEM(names, n);
    std::size_t i = 0;
    while (i < keywords.size() && PyUnicode_CompareWithASCIIString(name, keywords[i]) != 0) {
      ++i;
    }
    if (i == keywords.size()) {
      throw py::type_error(
          unknown_argument(function, py::handle(name).cast<std::string>(), keywords));
    }
    if (i < given) {
      throw py::type_error(std::string(function) + " was given '" + keywords[i] + "' twice");
    }
    values[i] = args[given + static_cast<std::size_t>(n)];
  }
}

}  // namespace cudacore::bindings
