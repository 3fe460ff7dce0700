// SPDX-License-Identifier: Apache-2.0
#include "bindings/option_value.hpp"

#include <array>

namespace cudacore::bindings {
namespace {

/// A flag is a C string: what follows a null would be lost.
std::string without_null(std::string text, const std::string& field) {
  if (text.find('\0') != std::string::npos) {
    throw py::value_error(field + " must not contain a null character");
  }
  return text;
}

std::string to_text(py::handle object, const std::string& field, const char* expected) {
  if (PyUnicode_Check(object.ptr()) == 0) refuse_type(field, expected, object);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) throw py::error_already_set();
  return without_null({text, static_cast<std::size_t>(size)}, field);
}

/// A str or an os.PathLike, as os.fsencode() encodes it.
std::string to_path_text(py::handle object, const OptionPlace& place) {
  const bool is_str = PyUnicode_Check(object.ptr()) != 0;
  if (!is_str && attribute_or_none(object, "__fspath__").is_none()) {
    refuse_type(place.name(), place.expected, object);
  }
  const py::bytes encoded = py::module_::import("os").attr("fsencode")(object);
  return without_null(encoded, place.name());
}

Index read_index(py::handle object, const OptionPlace& place) {
  if (!is_index(object)) refuse_type(place.name(), place.expected, object);
  return to_index(object);
}

bool is_list(py::handle object) {
  return PyUnicode_Check(object.ptr()) == 0 && PyBytes_Check(object.ptr()) == 0 &&
         PyByteArray_Check(object.ptr()) == 0 && !is_mapping(object) &&
         PySequence_Check(object.ptr()) != 0;
}

/// Calls visit(item, place) for each item.
template <typename Visit>
void for_each_item(py::handle list, const OptionPlace& place, const char* expected,
                   const Visit& visit) {
  std::size_t i = 0;
  for (const py::handle item : list) {
    visit(item, OptionPlace{place.owner, place.spec, expected, "[" + std::to_string(i++) + "]"});
  }
}

template <typename T>
void read_items(py::handle object, const OptionPlace& place, const char* expected,
                std::vector<T>& values) {
  for_each_item(object, place, expected, [&](py::handle item, const OptionPlace& where) {
    read_option(item, where, values.emplace_back());
  });
}

template <typename T>
void read_one_or_items(py::handle object, const OptionPlace& place, const char* expected,
                       std::vector<T>& values) {
  if (is_list(object)) {
    read_items(object, place, expected, values);
  } else if (!object.is_none()) {
    read_option(object, place, values.emplace_back());
  }
}

/// A tuple of two str is one macro with its value, as in cuda.core.
bool is_macro_pair(py::handle object) {
  return PyTuple_Check(object.ptr()) != 0 && PyTuple_GET_SIZE(object.ptr()) == 2 &&
         PyUnicode_Check(PyTuple_GET_ITEM(object.ptr(), 0)) != 0 &&
         PyUnicode_Check(PyTuple_GET_ITEM(object.ptr(), 1)) != 0;
}

/// The value of a macro in a dict; unset for a macro that has none.
std::optional<std::string> to_macro_value(py::handle value, const std::string& place) {
  if (value.is_none()) return std::nullopt;
  if (PyBool_Check(value.ptr()) != 0) return value.ptr() == Py_True ? "1" : "0";
  if (PyLong_Check(value.ptr()) != 0) return std::string(py::str(value));
  return to_text(value, place, "str, int, bool or None");
}

}  // namespace

void read_option(py::handle object, const OptionPlace& place, bool& value) {
  if (PyBool_Check(object.ptr()) == 0) refuse_type(place.name(), place.expected, object);
  value = object.ptr() == Py_True;
}

void read_option(py::handle object, const OptionPlace& place, int& value) {
  const OptionSpec& spec = place.spec;
  const Index index = read_index(object, place);
  if (!index.lies_in(spec.minimum, spec.maximum)) {
    const std::string range =
        spec.maximum != std::numeric_limits<int>::max()
            ? "between " + std::to_string(spec.minimum) + " and " + std::to_string(spec.maximum)
        : spec.minimum == 0 ? "an int of 32 bits that is not negative"
                            : "an int of 32 bits";
    throw py::value_error(place.name() + " must be " + range + ", not " + shown(index.number));
  }
  value = static_cast<int>(index.value);
}

void read_option(py::handle object, const OptionPlace& place, std::size_t& value) {
  const py::object number = read_index(object, place).number;
  value = PyLong_AsSize_t(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::value_error(place.name() + " must be an int of 64 bits that is not negative, not " +
                          shown(number));
  }
}

void read_option(py::handle object, const OptionPlace& place, std::string& value) {
  value = place.spec.is_path ? to_path_text(object, place)
                             : to_text(object, place.name(), place.expected);
}

void read_option(py::handle object, const OptionPlace& place, ManagedLocation& value) {
  if (object.is_none()) return;
  const std::string text = to_text(object, place.name(), place.expected);
  for (const auto location :
       {ManagedLocation::device, ManagedLocation::host, ManagedLocation::host_numa}) {
    if (text == name_of(location)) {
      value = location;
      return;
    }
  }
  throw py::value_error(place.name() + " must be " + place.expected + ", not '" + text + "'");
}

void read_option(py::handle object, const OptionPlace& place, Macro& value) {
  if (is_macro_pair(object)) {
    value.first = to_text(PyTuple_GET_ITEM(object.ptr(), 0), place.name(), "str");
    value.second = to_text(PyTuple_GET_ITEM(object.ptr(), 1), place.name(), "str");
  } else {
    value.first = to_text(object, place.name(), place.expected);
  }
}

void read_option(py::handle object, const OptionPlace& place, std::vector<std::string>& values) {
  read_one_or_items(object, place, "str", values);
}

void read_option(py::handle object, const OptionPlace& place, std::vector<int>& values) {
  read_one_or_items(object, place, "int", values);
}

void read_option(py::handle object, const OptionPlace& place, std::vector<Macro>& values) {
  if (is_macro_pair(object)) {
    read_option(object, place, values.emplace_back());
  } else if (is_mapping(object)) {
    const py::dict given = copy_of(py::dict(py::reinterpret_borrow<py::object>(object)));
    for (const auto& [key, value] : given) {
      const std::string name = to_text(key, "a key of " + place.name(), "str");
      values.emplace_back(name, to_macro_value(value, place.name() + "['" + name + "']"));
    }
  } else {
    read_one_or_items(object, place, "str or a tuple (str, str)", values);
  }
}

void read_option(py::handle object, const OptionPlace& place, SourceTexts& values) {
  if (object.is_none()) return;
  const auto add = [&](py::handle key, py::handle value) {
    const std::string name = to_text(key, "each name in " + place.name(), "str");
    const bool is_bytes = PyBytes_Check(value.ptr()) != 0 || PyByteArray_Check(value.ptr()) != 0;
    std::string text =
        is_bytes ? std::string(py::reinterpret_steal<py::bytes>(PyBytes_FromObject(value.ptr())))
                 : to_text(value, place.name() + "['" + name + "']", "str or bytes");
    values.insert_or_assign(name, std::move(text));
  };
  if (is_mapping(object)) {
    for (const py::handle key : object) add(key, py::object(object[key]));
    return;
  }
  if (!is_list(object)) refuse_type(place.name(), place.expected, object);
  for_each_item(object, place, "", [&](py::handle item, const OptionPlace& where) {
    if (!is_list(item) || py::len(item) != 2) {
      refuse_type(where.name(), "a pair (name, text)", item);
    }
    const py::tuple pair(py::reinterpret_borrow<py::object>(item));
    add(pair[0], pair[1]);
  });
}

py::object show_option(const std::string& value, const OptionSpec& spec) {
  return spec.is_path ? to_str(value) : py::str(value);
}

py::object show_option(const Macro& value, const OptionSpec& /*spec*/) {
  const auto& [name, text] = value;
  return text ? py::object(py::make_tuple(name, *text)) : py::object(py::str(name));
}

py::object show_option(const SourceTexts& values, const OptionSpec& /*spec*/) {
  if (values.empty()) return py::none();
  py::dict dict;
  for (const auto& [name, value] : values) dict[py::str(name)] = py::str(value);
  return dict;
}

py::object show_option(ManagedLocation value, const OptionSpec& /*spec*/) {
  return py::cast(name_of(value));
}

const char* name_of(ManagedLocation location) noexcept {
  static constexpr const char* names[] = {nullptr, "device", "host", "host_numa"};
  return names[static_cast<std::size_t>(location)];
}

std::string describe_option(const OptionSpec& spec, const char* tool) {
  const std::string_view rule = spec.rule;
  const std::string flag = spec.flag;
  std::string text = spec.doc;
  if (rule == "unsupported") {
    return text + " " + tool +
           " has no flag for it: setting it makes compile() raise NotSupportedError.";
  }
  if (flag.empty()) return text;
  constexpr auto arguments = std::to_array<std::pair<std::string_view, const char*>>({
      {"plain", "``."},
      {"boolean", "=true`` or ``=false``."},
      {"digit", "=1`` or ``=0``."},
      {"level", "N``."},
      {"macro", "=NAME`` or ``=NAME=VALUE``, once for each."},
      {"each", "=VALUE``, once for each."},
      {"value", "=VALUE``."},
  });
  const auto* argument = arguments.begin();
  while (argument->first != rule) ++argument;
  return text + " " + tool + " flag: ``" + flag + argument->second;
}

}  // namespace cudacore::bindings
