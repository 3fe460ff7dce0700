// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/errors.hpp"
#include "bindings/heap_type.hpp"
#include "bindings/options_field.hpp"
#include "bindings/suggestion.hpp"
#include "bindings/values.hpp"

// A Python class made from a table of the fields of a C++ struct.

namespace cudacore::bindings {

/// A field of the option struct T.
template <typename T>
struct Field {
  FieldSpec spec;
  const char* type;
  py::object (*get)(const T&, const FieldSpec&);
  void (*set)(T&, py::handle, const FieldSpec&);
  bool (*same)(const T&, const T&);
};

template <typename T>
struct MemberOf;
template <typename T, typename V>
struct MemberOf<V T::*> {
  using Owner = T;
  using Value = V;
};

template <auto member>
[[nodiscard]] constexpr auto make_field(const FieldSpec& spec) {
  using Owner = typename MemberOf<decltype(member)>::Owner;
  using Codec = FieldCodec<typename MemberOf<decltype(member)>::Value>;
  return Field<Owner>{spec, Codec::type,
                      [](const Owner& self, const FieldSpec& where) {
                        const auto value = self.*member;  // Python code may run while it is shown
                        if constexpr (requires { Codec::show(value, where); }) {
                          return Codec::show(value, where);
                        } else {
                          return Codec::show(value);
                        }
                      },
                      [](Owner& self, py::handle object, const FieldSpec& where) {
                        self.*member = Codec::parse(object, where);
                      },
                      [](const Owner& a, const Owner& b) { return a.*member == b.*member; }};
}

/// What makes T an option class: `qualified_name` ("cudacore.StreamOptions"), `name`, `summary`,
/// `example`, `tool` (what the flags are for), `positional`, and the array `fields`; `set_defaults`
/// where Python shows other defaults than the struct's.
template <typename T>
struct OptionTable;

template <typename T>
class OptionClass {
 public:
  static HeapClass<T> add(py::module_& module) {
    // PyType_FromSpec copies the documentation; the descriptors keep pointers.
    const std::string doc = full_doc();
    HeapClass<T> type(module, Table::qualified_name, doc.c_str(), &create);
    static std::array<std::string, std::size(Table::fields)> docs;
    static std::array<PyGetSetDef, std::size(Table::fields)> definitions;
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      const Field<T>& field = Table::fields[i];
      docs[i] = std::string(field.type) + ": " + field_doc(field.spec, Table::tool);
      definitions[i] = {field.spec.name, &get, &set, docs[i].c_str(),
                        const_cast<Field<T>*>(&field)};
      type.attr(field.spec.name) =
          py::reinterpret_steal<py::object>(PyDescr_NewGetSet(heap_type<T>, &definitions[i]));
    }
    type.def("__repr__", &repr, quick)
        .def("__eq__", &equals, py::arg("other"), py::pos_only(), py::is_operator(), quick)
        .def("__reduce__", &reduce, quick)
        .def(
            "__replace__",
            [](const T& self, const py::kwargs& changes) {
              T changed = self;
              set_all(changed, changes);
              return changed;
            },
            quick, "A copy with some fields changed; what copy.replace() calls.");
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
      throw py::type_error("options must be " + std::string(Table::name) +
                           ", a mapping of its fields, or None, not " +
                           Py_TYPE(object.ptr())->tp_name);
    }
    return options;
  }

 private:
  using Table = OptionTable<T>;

  static T defaults() {
    T options{};
    if constexpr (requires { Table::set_defaults(options); }) {
      Table::set_defaults(options);
    }
    return options;
  }

  static const Field<T>& find(py::handle key) {
    if (PyUnicode_Check(key.ptr()) == 0) {
      throw py::type_error("the fields of " + std::string(Table::name) + " are named by str, not " +
                           Py_TYPE(key.ptr())->tp_name);
    }
    for (const Field<T>& field : Table::fields) {
      if (PyUnicode_CompareWithASCIIString(key.ptr(), field.spec.name) == 0) {
        return field;
      }
    }
    std::vector<std::string> aliases;
    std::vector<Candidate> names;
    aliases.reserve(std::size(Table::fields));
    for (const Field<T>& field : Table::fields) {
      aliases.push_back(std::string(field.spec.flag) + " " + field.spec.aliases);
      names.push_back({field.spec.name, aliases.back()});
    }
    const auto name = key.cast<std::string>();
    throw py::type_error(std::string(Table::name) + " has no field '" + name + "'" +
                         did_you_mean(name, names));
  }

  /// `values` must be nobody else's: their conversion runs Python code.
  static void set_all(T& options, const py::dict& values) {
    for (const auto& [key, value] : values) {
      const Field<T>& field = find(key);
      field.set(options, value, field.spec);
    }
  }

  static PyObject* create(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
    return guarded([&]() -> PyObject* {
      T options = defaults();
      const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
      const std::size_t limit = Table::positional ? std::size(Table::fields) : 0;
      if (count > limit) {
        throw py::type_error(std::string(Table::name) + " takes " +
                             (limit == 0 ? "keyword arguments only"
                                         : "at most " + std::to_string(limit) + " arguments") +
                             ", but " + std::to_string(count) + (limit == 0 ? " positional" : "") +
                             (count == 1 ? " was given" : " were given"));
      }
      for (std::size_t i = 0; i < count; ++i) {
        const Field<T>& field = Table::fields[i];
        if (kwargs != nullptr && PyDict_GetItemString(kwargs, field.spec.name) != nullptr) {
          throw py::type_error(std::string(Table::name) + " was given '" + field.spec.name +
                               "' twice");
        }
        field.set(options, PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)), field.spec);
      }
      if (kwargs != nullptr) {
        set_all(options, copy_of(kwargs));
      }
      return make_object<T>(std::move(options));
    });
  }

  static PyObject* get(PyObject* self, void* closure) {
    return guarded([&] {
      const auto& field = *static_cast<const Field<T>*>(closure);
      return field.get(*get_if<T>(self), field.spec).release().ptr();
    });
  }

  static int set(PyObject* self, PyObject* value, void* closure) {
    const auto& field = *static_cast<const Field<T>*>(closure);
    if (value == nullptr) {
      PyErr_Format(PyExc_AttributeError, "%s.%s cannot be deleted", Table::name, field.spec.name);
      return -1;
    }
    PyObject* done = guarded([&] {
      field.set(*get_if<T>(self), value, field.spec);
      return Py_None;
    });
    return done == nullptr ? -1 : 0;
  }

  /// The fields that differ from their defaults.
  static py::dict set_fields(const T& self) {
    static const T unset = defaults();
    py::dict values;
    for (const Field<T>& field : Table::fields) {
      if (!field.same(self, unset)) {
        values[field.spec.name] = field.get(self, field.spec);
      }
    }
    return values;
  }

  static std::string repr(const T& self) {
    std::string text = std::string(Table::name) + "(";
    std::string_view separator;
    for (const auto& [key, value] : set_fields(self)) {
      text +=
          std::string(separator) + std::string(py::str(key)) + "=" + std::string(py::repr(value));
      separator = ", ";
    }
    return text + ")";
  }

  static py::object equals(const T& self, py::handle object) {
    const T* other = get_if<T>(object.ptr());
    if (other == nullptr) {
      return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    }
    for (const Field<T>& field : Table::fields) {
      if (!field.same(self, *other)) {
        return py::bool_(false);
      }
    }
    return py::bool_(true);
  }

  /// pickle and copy set each item of the state's second half as an attribute.
  static py::tuple reduce(const T& self) {
    const py::handle type(reinterpret_cast<PyObject*>(heap_type<T>));
    return py::make_tuple(type, py::tuple(), py::make_tuple(py::none(), set_fields(self)));
  }

  static std::string full_doc() {
    const T unset = defaults();
    std::string signature = Table::positional ? "" : "*, ";
    std::string parameters;
    std::string_view separator;
    for (const Field<T>& field : Table::fields) {
      const std::string value = py::repr(field.get(unset, field.spec));
      signature += std::string(separator) + field.spec.name + "=" + value;
      separator = ", ";
      parameters += std::string(field.spec.name) + " : " + field.type + ", default " + value +
                    "\n    " + field_doc(field.spec, Table::tool) + "\n";
    }
    return with_signature(Table::name, signature, Table::summary) +
           "\n\nEvery field is an attribute too, and checked when it is set. A list or dict that "
           "is "
           "read is\na copy: assign to the field to change it.\n\nParameters\n----------\n" +
           parameters +
           "\nRaises\n------\nTypeError\n    For an unknown field, or a value of the wrong type.\n"
           "ValueError\n    For a value out of range.\n\nExamples\n--------\n" +
           Table::example;
  }
};

}  // namespace cudacore::bindings
