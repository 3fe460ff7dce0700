// SPDX-License-Identifier: Apache-2.0
#include "bindings/keywords.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/conversions.hpp"
#include "bindings/suggestion.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

namespace {

[[noreturn]] void refuse_keyword_type(const char* function, py::handle name) {
  throw py::type_error(std::string(function) + " takes arguments by names of str, not " +
                       type_name(name));
}

[[noreturn]] void refuse_twice(const char* function, const char* keyword) {
  throw py::type_error(std::string(function) + " was given '" + keyword + "' twice");
}

/// As PyUnicode_CompareWithASCIIString(), which takes longer for names as the compiler makes them.
bool is_name(PyObject* name, const char* keyword) noexcept {
  if (PyUnicode_IS_COMPACT_ASCII(name) == 0) {
    return PyUnicode_CompareWithASCIIString(name, keyword) == 0;
  }
  const auto* text = reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(name));
  return std::strcmp(text, keyword) == 0 &&
         std::strlen(keyword) == static_cast<std::size_t>(PyUnicode_GET_LENGTH(name));
}

std::size_t index_of(const char* function, std::span<const char* const> keywords, py::handle name) {
  std::size_t i = 0;
  while (i < keywords.size() && !is_name(name.ptr(), keywords[i])) ++i;
  if (i == keywords.size()) {
    throw py::type_error(unknown_argument(function, name.cast<std::string>(), keywords));
  }
  return i;
}

}  // namespace

std::string too_many_arguments(const std::string& function, std::size_t most, std::size_t given,
                               std::span<const char* const> by_name_alone) {
  std::string names;
  for (const std::string_view name : by_name_alone) {
    names += (names.empty() || name.empty() ? "" : ", ") + std::string(name);
  }
  return function + " takes " + (most == 0 ? "no" : "at most " + std::to_string(most)) +
         " positional argument" + (most == 1 ? "" : "s") + ", but " + std::to_string(given) +
         (given == 1 ? " was" : " were") + " given" +
         (names.empty() ? "" : "; give " + names + " by name");
}

std::string unknown_argument(const std::string& function, const std::string& name,
                             std::span<const char* const> names) {
  const std::string meant = did_you_mean(name, names);
  const bool has_options = std::any_of(names.begin(), names.end(),
                                       [](std::string_view one) { return one == "options"; });
  return function + " has no argument '" + name + "'" +
         (meant.empty() && has_options ? "; options are given as options={\"" + name + "\": ...}"
                                       : meant);
}

std::string option_given_as_argument(const std::string& function, const std::string& name,
                                     const std::string& parameter) {
  return function + " has no argument '" + name + "'; it is an option: " + parameter + "={\"" +
         name + "\": ...}";
}

void parse_keywords(const char* function, std::span<const char* const> keywords,
                    std::span<py::handle> values, std::size_t positional, PyObject* const* args,
                    Py_ssize_t count, PyObject* names) {
  const auto given = static_cast<std::size_t>(count);
  if (given > positional) {
    throw py::type_error(
        too_many_arguments(function, positional, given, keywords.subspan(positional)));
  }
  for (std::size_t i = 0; i < given; ++i) values[i] = args[i];
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t n = 0; n < named; ++n) {
    const std::size_t i = index_of(function, keywords, PyTuple_GET_ITEM(names, n));
    if (i < given) refuse_twice(function, keywords[i]);
    values[i] = args[given + static_cast<std::size_t>(n)];
  }
}

void require_all(const char* function, std::span<const char* const> keywords,
                 std::span<const py::handle> values) {
  const auto missing =
      std::ranges::find_if(values, [](py::handle value) { return value.ptr() == nullptr; });
  if (missing == values.end()) return;
  throw py::type_error(std::string(function) + " needs the argument '" +
                       keywords[static_cast<std::size_t>(missing - values.begin())] + "'");
}

void parse_keywords(const char* function, std::span<const char* const> keywords,
                    std::span<py::handle> values, PyObject* args, PyObject* kwargs) {
  const Py_ssize_t given = PyTuple_GET_SIZE(args);
  parse_keywords(function, keywords, values, keywords.size(),
                 reinterpret_cast<PyTupleObject*>(args)->ob_item, given, nullptr);
  if (kwargs == nullptr) return;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(kwargs, &place, &name, &value) != 0;) {
    if (PyUnicode_Check(name) == 0) refuse_keyword_type(function, name);
    const std::size_t i = index_of(function, keywords, name);
    if (i < static_cast<std::size_t>(given)) refuse_twice(function, keywords[i]);
    values[i] = value;
  }
}

}  // namespace cudacore::bindings
