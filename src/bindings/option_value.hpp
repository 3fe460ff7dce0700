// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bindings/managed_buffer.hpp"
#include "bindings/options.hpp"

// How the value of an option is read from Python, and shown to it. Only options.cpp includes this.

namespace cudacore::bindings {

/// The description of an option besides its type. The lines of <cudacore/program_options.def> and
/// <cudacore/linker_options.def> end with these members.
struct OptionSpec {
  const char* name;
  const char* rule = "none";  ///< how the value becomes a flag; the option tables explain each
  const char* flag = "";      ///< of the compiler or linker; empty if there is none
  const char* doc;
  const char* aliases = "";  ///< what else a misspelled name may have meant, separated by spaces
  int minimum = 0;           ///< of an int
  int maximum = std::numeric_limits<int>::max();
  const char* when_true = nullptr;  ///< the value that True stands for; null if True is refused
  bool is_path = false;             ///< whether an os.PathLike is taken too, encoded as files are
};

/// Where a value stands, and what messages say is expected there.
struct OptionPlace {
  std::string name;  ///< "ProgramOptions.include_path[2]"
  const OptionSpec& spec;
  const char* expected;
};

using SourceTexts = std::map<std::string, std::string>;

/// Stands for a type.
template <typename V>
struct Type {};

// What messages and the documentation call the values of an option.
constexpr const char* expected(Type<bool> /*type*/) { return "bool"; }
constexpr const char* expected(Type<int> /*type*/) { return "int"; }
constexpr const char* expected(Type<std::size_t> /*type*/) { return "int"; }
constexpr const char* expected(Type<std::string> /*type*/) { return "str"; }
constexpr const char* expected(Type<Macro> /*type*/) { return "str or a tuple (str, str)"; }
constexpr const char* expected(Type<std::optional<bool>> /*type*/) { return "bool or None"; }
constexpr const char* expected(Type<std::optional<int>> /*type*/) { return "int or None"; }
constexpr const char* expected(Type<std::optional<std::string>> /*type*/) { return "str or None"; }
constexpr const char* expected(Type<std::vector<std::string>> /*type*/) {
  return "str, list or tuple of str, or None";
}
constexpr const char* expected(Type<std::vector<int>> /*type*/) {
  return "int, list or tuple of int, or None";
}
constexpr const char* expected(Type<std::vector<Macro>> /*type*/) {
  return "str, (str, str), list or tuple of such, dict of str to str or int, or None";
}
constexpr const char* expected(Type<SourceTexts> /*type*/) {
  return "mapping of str to str or bytes, list or tuple of such pairs, or None";
}
constexpr const char* expected(Type<std::optional<std::size_t>> /*type*/) { return "int or None"; }
constexpr const char* expected(Type<std::optional<MemoryLocation>> /*type*/) {
  return "Device, Host or None";
}
constexpr const char* expected(Type<double> /*type*/) { return "float"; }
constexpr const char* expected(Type<CUdeviceptr> /*type*/) { return "Buffer or int"; }
template <typename E>
requires std::is_enum_v<E>
constexpr const char* expected(Type<E> /*type*/) { return listed_names<E>.data(); }

inline std::string to_text(py::handle object, const OptionPlace& place) {
  const bool is_path = place.spec.is_path && !attribute_or_none(object, "__fspath__").is_none();
  if (PyUnicode_Check(object.ptr()) == 0 && !is_path) {
    refuse_type(place.name, place.expected, object);
  }
  std::string text =
      place.spec.is_path
          ? std::string(py::bytes(py::module_::import("os").attr("fsencode")(object)))
          : std::string(py::reinterpret_borrow<py::str>(object));
  if (text.find('\0') != std::string::npos) {  // a flag is a C string
    throw py::value_error(place.name + " must not contain a null character");
  }
  return text;
}

inline bool is_list(py::handle object) {
  return PyUnicode_Check(object.ptr()) == 0 && PyBytes_Check(object.ptr()) == 0 &&
         PyByteArray_Check(object.ptr()) == 0 && !is_mapping(object) &&
         PySequence_Check(object.ptr()) != 0;
}

/// A tuple of two str is one macro with its value, as in cuda.core.
inline bool is_macro_pair(py::handle object) {
  return PyTuple_Check(object.ptr()) != 0 && PyTuple_GET_SIZE(object.ptr()) == 2 &&
         PyUnicode_Check(PyTuple_GET_ITEM(object.ptr(), 0)) != 0 &&
         PyUnicode_Check(PyTuple_GET_ITEM(object.ptr(), 1)) != 0;
}

/// Calls visit(item, place) for each item.
template <typename Visit>
void for_each_item(py::handle list, const OptionPlace& place, const char* expected,
                   const Visit& visit) {
  std::size_t i = 0;
  for (const py::handle item : list) {
    visit(item, OptionPlace{place.name + "[" + std::to_string(i++) + "]", place.spec, expected});
  }
}

/// Calls visit(name, value, its place) for each item of a mapping.
template <typename Visit>
void for_each_pair(py::handle mapping, const OptionPlace& place, const char* expected,
                   const Visit& visit) {
  const py::dict given = copy_of(py::dict(py::reinterpret_borrow<py::object>(mapping)));
  for (const auto& [key, value] : given) {
    const std::string name = to_text(key, {"a key of " + place.name, place.spec, "str"});
    visit(name, value, OptionPlace{place.name + "['" + name + "']", place.spec, expected});
  }
}

// Each sets a fresh value.
// @throw pybind11::type_error, pybind11::value_error, and what Python code raises
inline void read_option(py::handle object, const OptionPlace& place, bool& value) {
  if (PyBool_Check(object.ptr()) == 0) refuse_type(place.name, place.expected, object);
  value = object.ptr() == Py_True;
}

inline void read_option(py::handle object, const OptionPlace& place, int& value) {
  if (!is_index(object)) refuse_type(place.name, place.expected, object);
  value = to_int<int>(object, place.name, {place.spec.minimum, place.spec.maximum});
}

inline void read_option(py::handle object, const OptionPlace& place, std::size_t& value) {
  if (!is_index(object)) refuse_type(place.name, place.expected, object);
  value = to_size(object, place.name);
}

inline void read_option(py::handle object, const OptionPlace& place, double& value) {
  if (PyBool_Check(object.ptr()) != 0 ||
      (PyFloat_Check(object.ptr()) == 0 && PyIndex_Check(object.ptr()) == 0)) {
    refuse_type(place.name, place.expected, object);
  }
  value = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {
    PyErr_Clear();
    py::set_error(PyExc_OverflowError, (place.name + " is too large for a float").c_str());
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
}

/// The address of memory.
inline void read_option(py::handle object, const OptionPlace& place, CUdeviceptr& value) {
  const auto* buffer = get_if<Buffer>(object.ptr());
  if (buffer != nullptr && buffer->is_closed()) {
    throw py::value_error(place.name + ": this Buffer is closed");
  }
  value = buffer != nullptr ? buffer->handle() : to_address(object, place.name.c_str());
}

inline void read_option(py::handle object, const OptionPlace& place, std::string& value) {
  value = to_text(object, place);
}

template <typename E>
requires std::is_enum_v<E>
void read_option(py::handle object, const OptionPlace& place, E& value) {
  value = to_enum<E>(object, place.name);
}

inline void read_option(py::handle object, const OptionPlace& place, MemoryLocation& value) {
  value = to_location(object, place.name);
}

inline void read_option(py::handle object, const OptionPlace& place, Macro& value) {
  const bool is_pair = is_macro_pair(object);
  value.first = to_text(is_pair ? PyTuple_GET_ITEM(object.ptr(), 0) : object.ptr(), place);
  if (is_pair) value.second = to_text(PyTuple_GET_ITEM(object.ptr(), 1), place);
}

/// The value of a macro in a dict; unset for a macro that has none.
inline std::optional<std::string> to_macro_value(py::handle value, const OptionPlace& place) {
  if (value.is_none()) return std::nullopt;
  if (PyBool_Check(value.ptr()) != 0) return value.ptr() == Py_True ? "1" : "0";
  if (PyLong_Check(value.ptr()) != 0) return std::string(py::str(value));
  return to_text(value, place);
}

template <typename T>
void read_option(py::handle object, const OptionPlace& place, std::vector<T>& values) {
  if (object.is_none()) return;
  const auto add = [&](py::handle item, const OptionPlace& where) {
    read_option(item, where, values.emplace_back());
  };
  if constexpr (std::is_same_v<T, Macro>) {
    if (is_mapping(object)) {
      for_each_pair(object, place, "str, int, bool or None",
                    [&](const std::string& name, py::handle value, const OptionPlace& where) {
                      values.emplace_back(name, to_macro_value(value, where));
                    });
      return;
    }
    if (is_macro_pair(object)) return add(object, place);
  }
  if (!is_list(object)) return add(object, place);
  for_each_item(object, place, expected(Type<T>()), add);
}

inline void read_option(py::handle object, const OptionPlace& place, SourceTexts& values) {
  if (object.is_none()) return;
  const auto add = [&](const std::string& name, py::handle value, const OptionPlace& where) {
    const bool is_bytes = PyBytes_Check(value.ptr()) != 0 || PyByteArray_Check(value.ptr()) != 0;
    values[name] = is_bytes ? std::string(checked<py::bytes>(PyBytes_FromObject(value.ptr())))
                            : to_text(value, where);
  };
  py::object mapping = py::reinterpret_borrow<py::object>(object);
  if (is_list(object)) {
    mapping = py::dict();
    for_each_item(object, place, "a pair (name, text)",
                  [&](py::handle item, const OptionPlace& where) {
                    if (!is_list(item) || py::len(item) != 2) {
                      refuse_type(where.name, where.expected, item);
                    }
                    mapping[item[py::int_(0)]] = item[py::int_(1)];
                  });
  } else if (!is_mapping(object)) {
    refuse_type(place.name, place.expected, object);
  }
  for_each_pair(mapping, place, "str or bytes", add);
}

template <typename T>
void read_option(py::handle object, const OptionPlace& place, std::optional<T>& value) {
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::string>) {
    const char* const when_true = place.spec.when_true;
    if (when_true != nullptr && PyBool_Check(object.ptr()) != 0) {
      if (object.ptr() == Py_False) return;
      if constexpr (std::is_same_v<T, int>) {
        value = std::stoi(when_true);
      } else {
        value = when_true;
      }
      return;
    }
  }
  if (!object.is_none()) read_option(object, place, value.emplace());
}

/// None for a value that is unset or empty, except for a list by the rule "list".
template <typename V>
[[nodiscard]] py::object show_option(const V& value, const OptionSpec& spec) {
  if constexpr (std::is_arithmetic_v<V>) {
    return py::cast(value);
  } else if constexpr (std::is_same_v<V, std::string>) {
    return spec.is_path ? to_str(value) : py::str(value);
  } else if constexpr (std::is_enum_v<V>) {
    return py::cast(name_of(value));
  } else if constexpr (std::is_same_v<V, MemoryLocation>) {
    return to_object(std::optional(value));
  } else if constexpr (std::is_same_v<V, Macro>) {
    if (!value.second) return py::str(value.first);
    return py::make_tuple(value.first, *value.second);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? show_option(*value, spec) : py::none();
  } else {
    if (value.empty() && std::string_view(spec.rule) != "list") return py::none();
    std::conditional_t<std::is_same_v<V, SourceTexts>, py::dict, py::list> shown;
    for (const auto& item : value) {
      if constexpr (std::is_same_v<V, SourceTexts>) {
        shown[py::str(item.first)] = py::str(item.second);
      } else {
        shown.append(show_option(item, spec));
      }
    }
    return shown;
  }
}

}  // namespace cudacore::bindings
