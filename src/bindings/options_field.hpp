// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cudacore/memory_resource.hpp"
#include "cudacore/program.hpp"

// How one field of an option class is read from Python and shown to it.

namespace cudacore::bindings {

namespace py = pybind11;

/// What is known of a field besides its type.
struct FieldSpec {
  const char* owner;  ///< the class, for messages
  const char* name;
  const char* doc;
  const char* rule = "none";  ///< how the field becomes a flag; the option tables explain each
  const char* flag = "";      ///< of the compiler or linker; empty where there is none
  const char* aliases = "";   ///< what else a misspelt name may have meant, separated by spaces
  long long minimum = std::numeric_limits<int>::min();
  long long maximum = std::numeric_limits<int>::max();
  const char* when_true = nullptr;  ///< the text that True stands for; null where it is refused
  bool is_path = false;             ///< whether an os.PathLike is taken too, encoded as files are
};

/// Converts a field to and from Python; show() takes the spec where it matters. `type` is what a
/// message and the documentation call it.
template <typename V>
struct FieldCodec;

template <>
struct FieldCodec<bool> {
  static constexpr char type[] = "bool";
  static bool parse(py::handle object, const FieldSpec& spec);
  static py::object show(bool value);
};

template <>
struct FieldCodec<std::size_t> {
  static constexpr char type[] = "int";
  static std::size_t parse(py::handle object, const FieldSpec& spec);
  static py::object show(std::size_t value);
};

template <>
struct FieldCodec<std::optional<bool>> {
  static constexpr char type[] = "bool or None";
  static std::optional<bool> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::optional<bool>& value);
};

template <>
struct FieldCodec<std::optional<int>> {
  static constexpr char type[] = "int or None";
  static std::optional<int> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::optional<int>& value);
};

template <>
struct FieldCodec<std::optional<std::string>> {
  static constexpr char type[] = "str or None";
  static std::optional<std::string> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::optional<std::string>& value, const FieldSpec& spec);
};

template <>
struct FieldCodec<std::vector<std::string>> {
  static constexpr char type[] = "str, list or tuple of str, or None";
  static std::vector<std::string> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::vector<std::string>& values, const FieldSpec& spec);
};

template <>
struct FieldCodec<std::vector<int>> {
  static constexpr char type[] = "int, list or tuple of int, or None";
  static std::vector<int> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::vector<int>& values);
};

template <>
struct FieldCodec<std::vector<Macro>> {
  static constexpr char type[] =
      "str, (str, str), list or tuple of such, dict of str to str or int, or None";
  static std::vector<Macro> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::vector<Macro>& macros);
};

template <>
struct FieldCodec<std::map<std::string, std::string>> {
  static constexpr char type[] =
      "mapping of str to str or bytes, list or tuple of such pairs, or None";
  static std::map<std::string, std::string> parse(py::handle object, const FieldSpec& spec);
  static py::object show(const std::map<std::string, std::string>& values);
};

template <>
struct FieldCodec<ManagedLocation> {
  static constexpr char type[] = "'device', 'host', 'host_numa' or None";
  static ManagedLocation parse(py::handle object, const FieldSpec& spec);
  static py::object show(ManagedLocation value);
};

/// Whether an object has items by key: a dict, or anything with keys().
[[nodiscard]] bool is_mapping(py::handle object);

/// One field's paragraph of a class's documentation: its meaning, and the flag it becomes.
[[nodiscard]] std::string field_doc(const FieldSpec& spec, const char* tool);

}  // namespace cudacore::bindings
