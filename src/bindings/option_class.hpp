// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/option_value.hpp"
#include "bindings/suggestion.hpp"
#include "bindings/text_signature.hpp"

// A Python class made from a table of the fields of a C++ struct.

namespace cudacore::bindings {

/// A field of the option struct T.
template <typename T>
struct Option {
  OptionSpec spec;
  const char* expected;
  py::object (*get)(const T&, const OptionSpec&);
  void (*set)(T&, py::handle, const OptionPlace&);
  bool (*same)(const T&, const T&);
};

template <auto member, typename T, typename V>
constexpr Option<T> make_option(const OptionSpec& spec, V T::* /*member*/) {
  return {spec, expected(Type<V>()),
          [](const T& self, const OptionSpec& where) {
            const V value = self.*member;  // Python code may run while it is shown
            return show_option(value, where);
          },
          [](T& self, py::handle object, const OptionPlace& place) {
            V value{};
            read_option(object, place, value);
            self.*member = std::move(value);
          },
          [](const T& a, const T& b) { return a.*member == b.*member; }};
}

template <auto member>
[[nodiscard]] constexpr auto option(const OptionSpec& spec) {
  return make_option<member>(spec, member);
}

/// The texts of an option class.
struct OptionTexts {
  const char* qualified_name;  ///< "cudacore.StreamOptions"
  const char* summary;
  const char* example;
  const char* tool = "";  ///< what the fields are flags of, which are given by name alone
};

/// What makes T an option class: the `texts`, the array `fields`, `set_defaults` if Python shows
/// other defaults than the struct's, and `check` if values that are given together must fit.
template <typename T>
struct OptionTable;

template <typename T>
class OptionClass {
 public:
  static HeapClass<T> add(py::module_& module) {
    HeapClass<T> type(module, Table::texts.qualified_name, full_doc(), &create);
    static std::array<std::string, std::size(Table::fields)> docs;  // the descriptors keep pointers
    static std::array<PyGetSetDef, std::size(Table::fields)> definitions;
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      const Option<T>& field = Table::fields[i];
      docs[i] = std::string(field.expected) + ": " + described(field);
      definitions[i] = {field.spec.name, &get, &set, docs[i].c_str(),
                        const_cast<Option<T>*>(&field)};
      type.attr(field.spec.name) = checked(PyDescr_NewGetSet(heap_type<T>, &definitions[i]));
    }
    type.def("__repr__", quick, &repr)
        .def_equality(&equals)
        .def("__reduce__", quick, &reduce)
        .def_replace(&set_all);
    type.attr("__hash__") = py::none();
    return type;
  }

  /// The class's own instance, a mapping of fields, or None for the defaults.
  [[nodiscard]] static T from_python(py::handle object) {
    T options = defaults();
    if (const T* given = get_if<T>(object.ptr())) {
      options = *given;
    } else if (is_mapping(object)) {
      const bool is_dict = PyDict_Check(object.ptr()) != 0;
      set_all(options,
              is_dict ? copy_of(object) : py::dict(py::reinterpret_borrow<py::object>(object)));
    } else if (!object.is_none()) {
      refuse_type("options", std::string(name) + ", a mapping of its fields, or None", object);
    }
    return options;
  }

 private:
  using Table = OptionTable<T>;
  static constexpr const char* name =
      Table::texts.qualified_name + std::string_view(Table::texts.qualified_name).rfind('.') + 1;

  static T defaults() {
    T options{};
    if constexpr (requires { Table::set_defaults(options); }) Table::set_defaults(options);
    return options;
  }

  static const Option<T>& find(py::handle key) {
    if (PyUnicode_Check(key.ptr()) == 0) {
      throw py::type_error("the fields of " + std::string(name) + " are named by str, not " +
                           type_name(key));
    }
    for (const Option<T>& field : Table::fields) {
      if (PyUnicode_CompareWithASCIIString(key.ptr(), field.spec.name) == 0) return field;
    }
    std::vector<std::string> aliases;
    std::vector<Candidate> names;
    aliases.reserve(std::size(Table::fields));
    for (const Option<T>& field : Table::fields) {
      aliases.push_back(std::string(field.spec.flag) + " " + field.spec.aliases);
      names.push_back({field.spec.name, aliases.back()});
    }
    const auto wanted = key.cast<std::string>();
    throw py::type_error(std::string(name) + " has no field '" + wanted + "'" +
                         did_you_mean(wanted, names));
  }

  static void set_field(T& options, const Option<T>& field, py::handle value) {
    field.set(options, value,
              {std::string(name) + "." + field.spec.name, field.spec, field.expected});
  }

  /// No one else may hold `values`: their conversion runs Python code.
  static void set_all(T& options, const py::dict& values) {
    for (const auto& [key, value] : values) set_field(options, find(key), value);
    if constexpr (requires { Table::check(options, values); }) Table::check(options, values);
  }

  static PyObject* create(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
    return guarded([&]() -> PyObject* {
      T options = defaults();
      const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
      const std::size_t limit = *Table::texts.tool == '\0' ? std::size(Table::fields) : 0;
      if (count > limit) {
        throw py::type_error(std::string(name) + " takes " +
                             (limit == 0 ? "keyword arguments only"
                                         : "at most " + std::to_string(limit) + " arguments") +
                             ", but " + std::to_string(count) + (limit == 0 ? " positional" : "") +
                             (count == 1 ? " was given" : " were given"));
      }
      py::dict values = kwargs != nullptr ? copy_of(kwargs) : py::dict();
      for (std::size_t i = 0; i < count; ++i) {
        const char* const keyword = Table::fields[i].spec.name;
        if (values.contains(keyword)) {
          throw py::type_error(std::string(name) + " was given '" + keyword + "' twice");
        }
        values[keyword] = py::handle(PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)));
      }
      set_all(options, values);
      return make_object<T>(std::move(options));
    });
  }

  static PyObject* get(PyObject* self, void* closure) {
    return guarded([&] {
      const auto& field = *static_cast<const Option<T>*>(closure);
      return field.get(*get_if<T>(self), field.spec).release().ptr();
    });
  }

  static int set(PyObject* self, PyObject* value, void* closure) {
    return status_of([&] {
      const auto& field = *static_cast<const Option<T>*>(closure);
      if (value == nullptr) {
        throw py::attribute_error(std::string(name) + "." + field.spec.name + " cannot be deleted");
      }
      set_field(*get_if<T>(self), field, value);
    });
  }

  /// The fields that differ from their defaults.
  static py::dict changed_fields(const T& self) {
    static const T unset = defaults();
    py::dict values;
    for (const Option<T>& field : Table::fields) {
      if (!field.same(self, unset)) values[field.spec.name] = field.get(self, field.spec);
    }
    return values;
  }

  static std::string repr(const T& self) {
    std::string text = std::string(name) + "(";
    std::string_view separator;
    for (const auto& [key, value] : changed_fields(self)) {
      text +=
          std::string(separator) + std::string(py::str(key)) + "=" + std::string(py::repr(value));
      separator = ", ";
    }
    return text + ")";
  }

  static bool equals(const T& a, const T& b) {
    return std::all_of(std::begin(Table::fields), std::end(Table::fields),
                       [&](const Option<T>& field) { return field.same(a, b); });
  }

  /// pickle and copy set each item of the state's second half as an attribute.
  static py::tuple reduce(const T& self) {
    return py::make_tuple(type_of<T>(), py::tuple(),
                          py::make_tuple(py::none(), changed_fields(self)));
  }

  /// Its meaning, and the flag that it becomes.
  static std::string described(const Option<T>& field) {
    const std::string_view rule = field.spec.rule;
    const std::string tool = Table::texts.tool;
    const std::string text = std::string(field.spec.doc) + " " + tool;
    if (rule == "unsupported") {
      return text + " has no flag for it: setting it makes compile() raise NotSupportedError.";
    }
    if (*field.spec.flag == '\0') return field.spec.doc;
    return text + " flag: ``" + field.spec.flag +
           (rule == "plain"     ? "``."
            : rule == "boolean" ? "=true`` or ``=false``."
            : rule == "digit"   ? "=1`` or ``=0``."
            : rule == "level"   ? "N``."
            : rule == "macro"   ? "=NAME`` or ``=NAME=VALUE``, once for each."
            : rule == "each"    ? "=VALUE``, once for each."
                                : "=VALUE``.");
  }

  static std::string full_doc() {
    const T unset = defaults();
    std::string signature = *Table::texts.tool == '\0' ? "" : "*, ";
    std::string parameters;
    std::string_view separator;
    for (const Option<T>& field : Table::fields) {
      const std::string value = py::repr(field.get(unset, field.spec));
      signature += std::string(separator) + field.spec.name + "=" + value;
      separator = ", ";
      parameters += std::string(field.spec.name) + " : " + field.expected + ", default " + value +
                    "\n    " + described(field) + "\n";
    }
    return with_signature(name, signature, Table::texts.summary) +
           "\n\nEvery field is an attribute too, and checked when it is set. A list or dict that "
           "is read is\na copy: assign to the field to change it.\n\nParameters\n----------\n" +
           parameters +
           "\nRaises\n------\nTypeError\n    For an unknown field, or a value of the wrong type.\n"
           "ValueError\n    For a value out of range.\n\nExamples\n--------\n" +
           Table::texts.example;
  }
};

}  // namespace cudacore::bindings
