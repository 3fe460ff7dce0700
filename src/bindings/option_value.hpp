// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/conversions.hpp"

// How the value of an option is read from Python and shown to it.

namespace cudacore::bindings {

/// The description of an option besides its type. The lines of <cudacore/program_options.def> and
/// <cudacore/linker_options.def> end with these members.
struct OptionSpec {
  const char* name;
  const char* rule = "none";  ///< how the value becomes a flag; the option tables explain each
  const char* flag = "";      ///< of the compiler or linker; empty if there is none
  const char* doc;
  const char* aliases = "";  ///< what else a misspelled name may have meant, separated by spaces
  long long minimum = 0;     ///< of an int
  long long maximum = std::numeric_limits<int>::max();
  const char* when_true = nullptr;  ///< the value that True stands for; null if True is refused
  bool is_path = false;             ///< whether an os.PathLike is taken too, encoded as files are
};

/// Where a value stands, and what messages say is expected there.
struct OptionPlace {
  const char* owner;  ///< the class
  const OptionSpec& spec;
  const char* expected;
  std::string item = {};  ///< "[2]" in a list

  [[nodiscard]] std::string name() const { return std::string(owner) + "." + spec.name + item; }
};

using SourceTexts = std::map<std::string, std::string>;

/// What messages and the documentation call the values of an option.
template <typename V>
inline constexpr const char* expected_values = nullptr;
template <>
inline constexpr const char* expected_values<bool> = "bool";
template <>
inline constexpr const char* expected_values<std::size_t> = "int";
template <>
inline constexpr const char* expected_values<std::optional<bool>> = "bool or None";
template <>
inline constexpr const char* expected_values<std::optional<int>> = "int or None";
template <>
inline constexpr const char* expected_values<std::optional<std::string>> = "str or None";
template <>
inline constexpr const char* expected_values<std::vector<std::string>> =
    "str, list or tuple of str, or None";
template <>
inline constexpr const char* expected_values<std::vector<int>> =
    "int, list or tuple of int, or None";
template <>
inline constexpr const char* expected_values<std::vector<Macro>> =
    "str, (str, str), list or tuple of such, dict of str to str or int, or None";
template <>
inline constexpr const char* expected_values<SourceTexts> =
    "mapping of str to str or bytes, list or tuple of such pairs, or None";
template <>
inline constexpr const char* expected_values<ManagedLocation> =
    "'device', 'host', 'host_numa' or None";

// Each sets a fresh value.
// @throw pybind11::type_error, pybind11::value_error, and what Python code raises
void read_option(py::handle object, const OptionPlace& place, bool& value);
void read_option(py::handle object, const OptionPlace& place, int& value);
void read_option(py::handle object, const OptionPlace& place, std::size_t& value);
void read_option(py::handle object, const OptionPlace& place, std::string& value);
void read_option(py::handle object, const OptionPlace& place, ManagedLocation& value);
void read_option(py::handle object, const OptionPlace& place, Macro& value);
void read_option(py::handle object, const OptionPlace& place, std::vector<std::string>& values);
void read_option(py::handle object, const OptionPlace& place, std::vector<int>& values);
void read_option(py::handle object, const OptionPlace& place, std::vector<Macro>& values);
void read_option(py::handle object, const OptionPlace& place, SourceTexts& values);

template <typename T>
void read_option(py::handle object, const OptionPlace& place, std::optional<T>& value) {
  if constexpr (!std::is_same_v<T, bool>) {
    if (place.spec.when_true != nullptr && PyBool_Check(object.ptr()) != 0) {
      if (object.ptr() == Py_False) return;
      if constexpr (std::is_same_v<T, int>) {
        value = std::stoi(place.spec.when_true);
      } else {
        value = place.spec.when_true;
      }
      return;
    }
  }
  if (!object.is_none()) read_option(object, place, value.emplace());
}

[[nodiscard]] py::object show_option(const std::string& value, const OptionSpec& spec);
[[nodiscard]] py::object show_option(const Macro& value, const OptionSpec& spec);
[[nodiscard]] py::object show_option(const SourceTexts& values, const OptionSpec& spec);
[[nodiscard]] py::object show_option(ManagedLocation value, const OptionSpec& spec);

/// Numbers as they are; None for a value that is unset or empty.
template <typename V>
[[nodiscard]] py::object show_option(const V& value, const OptionSpec& spec) {
  if constexpr (std::is_arithmetic_v<V>) {
    return py::cast(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? show_option(*value, spec) : py::none();
  } else {
    if (value.empty()) return py::none();
    py::list list;
    for (const auto& item : value) list.append(show_option(item, spec));
    return list;
  }
}

/// "device", "host" or "host_numa"; null for none.
[[nodiscard]] const char* name_of(ManagedLocation location) noexcept;

/// An option's paragraph of a class's documentation: its meaning, and the flag of `tool` that it
/// becomes.
[[nodiscard]] std::string describe_option(const OptionSpec& spec, const char* tool);

}  // namespace cudacore::bindings
