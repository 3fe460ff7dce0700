// SPDX-License-Identifier: Apache-2.0
#include "bindings/options_field.hpp"

#include <algorithm>
#include <utility>

#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

std::string full_name(const FieldSpec& spec) { return std::string(spec.owner) + "." + spec.name; }

[[noreturn]] void refuse_type(const std::string& field, const char* expected, py::handle object) {
  throw py::type_error(field + " must be " + expected + ", not " + type_name(object));
}

/// A flag is a C string: what follows a null would be lost.
std::string without_null(std::string text, const std::string& field) {
  if (text.find('\0') != std::string::npos) {
    throw py::value_error(field + " must not contain a null character");
  }
  return text;
}

std::string to_text(py::handle object, const std::string& field, const char* expected) {
  if (PyUnicode_Check(object.ptr()) == 0) {
    refuse_type(field, expected, object);
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) {
    throw py::error_already_set();
  }
  return without_null({text, static_cast<std::size_t>(size)}, field);
}

/// Where the field is a path, a str or an os.PathLike, as os.fsencode() encodes it.
std::string to_text(py::handle object, const std::string& field, const char* expected,
                    const FieldSpec& spec) {
  const bool is_str = PyUnicode_Check(object.ptr()) != 0;
  if (!spec.is_path || (!is_str && attribute_or_none(object, "__fspath__").is_none())) {
    return to_text(object, field, expected);
  }
  const auto path = py::reinterpret_steal<py::object>(PyOS_FSPath(object.ptr()));
  if (!path) {
    throw py::error_already_set();
  }
  auto encoded = py::reinterpret_borrow<py::object>(path);
  if (PyUnicode_Check(path.ptr()) != 0) {
    encoded = py::reinterpret_steal<py::object>(PyUnicode_EncodeFSDefault(path.ptr()));
    if (!encoded) {
      throw py::error_already_set();
    }
  }
  return without_null(py::reinterpret_borrow<py::bytes>(encoded), field);
}

py::str show_text(const std::string& text, const FieldSpec& spec) {
  return spec.is_path ? to_str(text) : py::str(text);
}

/// An int, or what stands for one; bool is none.
py::int_ to_index(py::handle object, const std::string& field, const char* expected) {
  if (PyBool_Check(object.ptr()) != 0 || PyIndex_Check(object.ptr()) == 0) {
    refuse_type(field, expected, object);
  }
  auto index = py::reinterpret_steal<py::int_>(PyNumber_Index(object.ptr()));
  if (!index) {
    throw py::error_already_set();
  }
  return index;
}

int to_int(py::handle object, const std::string& field, const char* expected,
           const FieldSpec& spec) {
  const py::int_ index = to_index(object, field, expected);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow == 0 && value >= spec.minimum && value <= spec.maximum) {
    return static_cast<int>(value);
  }
  const std::string range =
      spec.maximum != std::numeric_limits<int>::max()
          ? "between " + std::to_string(spec.minimum) + " and " + std::to_string(spec.maximum)
      : spec.minimum == 0 ? "an int of 32 bits that is not negative"
                          : "an int of 32 bits";
  throw py::value_error(field + " must be " + range + ", not " + shown(index));
}

bool is_list(py::handle object) {
  return PyUnicode_Check(object.ptr()) == 0 && PyBytes_Check(object.ptr()) == 0 &&
         PyByteArray_Check(object.ptr()) == 0 && !is_mapping(object) &&
         PySequence_Check(object.ptr()) != 0;
}

/// Calls visit(item, "Class.field[i]") for each item.
template <typename Visit>
void for_each_item(py::handle list, const FieldSpec& spec, const Visit& visit) {
  std::size_t i = 0;
  for (const py::handle item : list) {
    visit(item, full_name(spec) + "[" + std::to_string(i++) + "]");
  }
}

bool is_macro_pair(py::handle object) {
  if (!py::isinstance<py::tuple>(object) || py::len(object) != 2) {
    return false;
  }
  const auto pair = py::reinterpret_borrow<py::tuple>(object);
  return py::isinstance<py::str>(pair[0]) && py::isinstance<py::str>(pair[1]);
}

Macro to_macro(py::handle object, const std::string& field) {
  if (is_macro_pair(object)) {
    const auto pair = py::reinterpret_borrow<py::tuple>(object);
    return {to_text(pair[0], field, "str"), to_text(pair[1], field, "str")};
  }
  return {to_text(object, field, "str or a tuple (str, str)"), std::nullopt};
}

/// What a dict of macros says of one: its value, or None for one that has none.
Macro to_macro_value(const std::string& name, py::handle value, const std::string& field) {
  if (value.is_none()) {
    return {name, std::nullopt};
  }
  if (PyBool_Check(value.ptr()) != 0) {
    return {name, std::string(value.ptr() == Py_True ? "1" : "0")};
  }
  if (PyLong_Check(value.ptr()) != 0) {
    return {name, std::string(py::str(value))};
  }
  return {name, to_text(value, field, "str, int, bool or None")};
}

}  // namespace

bool FieldCodec<bool>::parse(py::handle object, const FieldSpec& spec) {
  if (PyBool_Check(object.ptr()) == 0) {
    refuse_type(full_name(spec), type, object);
  }
  return object.ptr() == Py_True;
}
py::object FieldCodec<bool>::show(bool value) { return py::bool_(value); }

std::size_t FieldCodec<std::size_t>::parse(py::handle object, const FieldSpec& spec) {
  const py::int_ index = to_index(object, full_name(spec), type);
  const std::size_t value = PyLong_AsSize_t(index.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::value_error(full_name(spec) +
                          " must be an int of 64 bits that is not negative, not " + shown(index));
  }
  return value;
}
py::object FieldCodec<std::size_t>::show(std::size_t value) { return py::int_(value); }

std::optional<bool> FieldCodec<std::optional<bool>>::parse(py::handle object,
                                                           const FieldSpec& spec) {
  if (object.is_none()) {
    return std::nullopt;
  }
  if (PyBool_Check(object.ptr()) == 0) {
    refuse_type(full_name(spec), type, object);
  }
  return object.ptr() == Py_True;
}
py::object FieldCodec<std::optional<bool>>::show(const std::optional<bool>& value) {
  return value ? py::object(py::bool_(*value)) : py::none();
}

std::optional<int> FieldCodec<std::optional<int>>::parse(py::handle object, const FieldSpec& spec) {
  if (object.is_none() || (object.is(py::handle(Py_False)) && spec.when_true != nullptr)) {
    return std::nullopt;
  }
  if (object.is(py::handle(Py_True)) && spec.when_true != nullptr) {
    return std::stoi(spec.when_true);
  }
  return to_int(object, full_name(spec), type, spec);
}
py::object FieldCodec<std::optional<int>>::show(const std::optional<int>& value) {
  return value ? py::object(py::int_(*value)) : py::none();
}

std::optional<std::string> FieldCodec<std::optional<std::string>>::parse(py::handle object,
                                                                         const FieldSpec& spec) {
  if (object.is_none() || (object.is(py::handle(Py_False)) && spec.when_true != nullptr)) {
    return std::nullopt;
  }
  if (object.is(py::handle(Py_True)) && spec.when_true != nullptr) {
    return spec.when_true;
  }
  return to_text(object, full_name(spec), type, spec);
}
py::object FieldCodec<std::optional<std::string>>::show(const std::optional<std::string>& value,
                                                        const FieldSpec& spec) {
  return value ? py::object(show_text(*value, spec)) : py::none();
}

std::vector<std::string> FieldCodec<std::vector<std::string>>::parse(py::handle object,
                                                                     const FieldSpec& spec) {
  std::vector<std::string> values;
  if (is_list(object)) {
    for_each_item(object, spec, [&](py::handle item, const std::string& place) {
      values.push_back(to_text(item, place, "str", spec));
    });
  } else if (!object.is_none()) {
    values.push_back(to_text(object, full_name(spec), type, spec));
  }
  return values;
}
py::object FieldCodec<std::vector<std::string>>::show(const std::vector<std::string>& values,
                                                      const FieldSpec& spec) {
  if (values.empty()) {
    return py::none();
  }
  py::list list;
  for (const std::string& value : values) {
    list.append(show_text(value, spec));
  }
  return list;
}

std::vector<int> FieldCodec<std::vector<int>>::parse(py::handle object, const FieldSpec& spec) {
  std::vector<int> values;
  if (is_list(object)) {
    for_each_item(object, spec, [&](py::handle item, const std::string& place) {
      values.push_back(to_int(item, place, "int", spec));
    });
  } else if (!object.is_none()) {
    values.push_back(to_int(object, full_name(spec), type, spec));
  }
  return values;
}
py::object FieldCodec<std::vector<int>>::show(const std::vector<int>& values) {
  if (values.empty()) {
    return py::none();
  }
  py::list list;
  for (const int value : values) {
    list.append(py::int_(value));
  }
  return list;
}

std::vector<Macro> FieldCodec<std::vector<Macro>>::parse(py::handle object, const FieldSpec& spec) {
  std::vector<Macro> macros;
  if (object.is_none()) {
    return macros;
  }
  if (is_mapping(object)) {
    const py::dict given = copy_of(py::dict(py::reinterpret_borrow<py::object>(object)));
    for (const auto& [key, value] : given) {
      const std::string name = to_text(key, "a key of " + full_name(spec), "str");
      macros.push_back(to_macro_value(name, value, full_name(spec) + "['" + name + "']"));
    }
    return macros;
  }
  // A tuple of two str is one macro with its value, as in cuda.core.
  if (is_list(object) && !is_macro_pair(object)) {
    for_each_item(object, spec, [&](py::handle item, const std::string& place) {
      macros.push_back(to_macro(item, place));
    });
    return macros;
  }
  if (!is_macro_pair(object) && PyUnicode_Check(object.ptr()) == 0) {
    refuse_type(full_name(spec), type, object);
  }
  macros.push_back(to_macro(object, full_name(spec)));
  return macros;
}
py::object FieldCodec<std::vector<Macro>>::show(const std::vector<Macro>& macros) {
  if (macros.empty()) {
    return py::none();
  }
  py::list list;
  for (const auto& [name, value] : macros) {
    list.append(value ? py::object(py::make_tuple(name, *value)) : py::object(py::str(name)));
  }
  return list;
}

std::map<std::string, std::string> FieldCodec<std::map<std::string, std::string>>::parse(
    py::handle object, const FieldSpec& spec) {
  std::map<std::string, std::string> values;
  if (object.is_none()) {
    return values;
  }
  const auto add = [&](py::handle key, py::handle value) {
    const std::string name = to_text(key, "each name in " + full_name(spec), "str");
    const std::string place = full_name(spec) + "['" + name + "']";
    const bool is_bytes = PyBytes_Check(value.ptr()) != 0 || PyByteArray_Check(value.ptr()) != 0;
    std::string text =
        is_bytes ? std::string(py::reinterpret_steal<py::bytes>(PyBytes_FromObject(value.ptr())))
                 : to_text(value, place, "str or bytes");
    values.insert_or_assign(name, std::move(text));
  };
  if (is_mapping(object)) {
    for (const py::handle key : object) {
      add(key, py::object(object[key]));
    }
    return values;
  }
  if (!is_list(object)) {
    refuse_type(full_name(spec), type, object);
  }
  for_each_item(object, spec, [&](py::handle item, const std::string& place) {
    if (!is_list(item) || py::len(item) != 2) {
      throw py::type_error(place + " must be a pair (name, text), not " + type_name(item));
    }
    const py::tuple pair(py::reinterpret_borrow<py::object>(item));
    add(pair[0], pair[1]);
  });
  return values;
}
py::object FieldCodec<std::map<std::string, std::string>>::show(
    const std::map<std::string, std::string>& values) {
  if (values.empty()) {
    return py::none();
  }
  py::dict dict;
  for (const auto& [name, value] : values) {
    dict[py::str(name)] = py::str(value);
  }
  return dict;
}

ManagedLocation FieldCodec<ManagedLocation>::parse(py::handle object, const FieldSpec& spec) {
  if (object.is_none()) {
    return ManagedLocation::none;
  }
  const std::string text = to_text(object, full_name(spec), type);
  if (text == "device") {
    return ManagedLocation::device;
  }
  if (text == "host") {
    return ManagedLocation::host;
  }
  if (text == "host_numa") {
    return ManagedLocation::host_numa;
  }
  throw py::value_error(full_name(spec) + " must be " + type + ", not '" + text + "'");
}
py::object FieldCodec<ManagedLocation>::show(ManagedLocation value) {
  switch (value) {
    case ManagedLocation::device:
      return py::str("device");
    case ManagedLocation::host:
      return py::str("host");
    case ManagedLocation::host_numa:
      return py::str("host_numa");
    case ManagedLocation::none:
      break;
  }
  return py::none();
}

bool is_mapping(py::handle object) {
  return py::isinstance<py::dict>(object) ||
         (PyMapping_Check(object.ptr()) != 0 && !attribute_or_none(object, "keys").is_none());
}

std::string field_doc(const FieldSpec& spec, const char* tool) {
  const std::string_view rule = spec.rule;
  const std::string flag = spec.flag;
  std::string text = spec.doc;
  if (rule == "unsupported") {
    return text + " " + tool +
           " has no flag for it: setting it makes compile() raise "
           "NotSupportedError.";
  }
  if (flag.empty()) {
    return text;
  }
  text += std::string(" ") + tool + " flag: ``" + flag;
  if (rule == "boolean") {
    return text + "=true`` or ``=false``.";
  }
  if (rule == "digit") {
    return text + "=1`` or ``=0``.";
  }
  if (rule == "level") {
    return text + "N``.";
  }
  if (rule == "macro") {
    return text + "=NAME`` or ``=NAME=VALUE``, once for each.";
  }
  if (rule == "each") {
    return text + "=VALUE``, once for each.";
  }
  return text + (rule == "value" ? "=VALUE``." : "``.");
}

}  // namespace cudacore::bindings
