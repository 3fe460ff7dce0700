// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"

#include <limits>

#include "bindings/device_object.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/foreign_array.hpp"
#include "bindings/foreign_stream.hpp"
#include "bindings/type_cache.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {
namespace {

/// The handle in (0, handle), as nearly all libraries return it; unset for what is to be checked.
std::optional<CUstream> plain_handle(PyObject* answer) {
  if (PyTuple_CheckExact(answer) == 0 || PyTuple_GET_SIZE(answer) != 2) return std::nullopt;
  std::array<long long, 2> numbers{};
  for (const std::size_t i : {0U, 1U}) {
    PyObject* item = PyTuple_GET_ITEM(answer, static_cast<Py_ssize_t>(i));
    if (PyLong_CheckExact(item) == 0) return std::nullopt;
    int overflowed = 0;
    numbers[i] = as_long_long(item, overflowed);
    if (overflowed != 0) return std::nullopt;
  }
  if (numbers[0] != 0 || numbers[1] < 0) return std::nullopt;
  return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(numbers[1]));  // NOLINT
}

/// Whether objects of a type have an attribute, written in C, with what __cuda_stream__ returns.
struct StreamType {
  PyTypeObject* type = nullptr;
  bool is_torch = false;
};

constinit TypeCache<StreamType> stream_types;

PyObject* handle_name() {
  static PyObject* const name = interned("cuda_stream");
  return name;
}

bool is_torch_stream(PyTypeObject* type) {
  return stream_types
      .find(type,
            [type] {
              static PyObject* const name = interned("__module__");
              const py::object module = optional_attribute(reinterpret_cast<PyObject*>(type), name);
              const PyObject* attribute = _PyType_Lookup(type, handle_name());
              const bool is_torch = module && PyUnicode_Check(module.ptr()) != 0 &&
                                    module.cast<std::string>() == "torch.cuda.streams" &&
                                    attribute != nullptr &&
                                    Py_TYPE(attribute) == &PyGetSetDescr_Type;
              return StreamType{type, is_torch};
            })
      .is_torch;
}

/// What __cuda_stream__ of an object returns.
py::object ask_for_stream(py::handle object) {
  static PyObject* const name = interned("__cuda_stream__");
  const auto function =
      py::reinterpret_borrow<py::object>(_PyType_Lookup(Py_TYPE(object.ptr()), name));
  if (function && PyFunction_Check(function.ptr()) != 0) {  // needs no bound method
    return checked(PyObject_CallOneArg(function.ptr(), object.ptr()));
  }
  const py::object protocol = attribute_or_none(object, "__cuda_stream__");
  if (protocol.is_none()) {
    const bool is_number = PyLong_Check(object.ptr()) != 0;
    const bool is_graph = !attribute_or_none(object, "_definition").is_none();
    refuse_type("stream", "a cudacore.Stream or have __cuda_stream__", object,
                is_number  ? "; None is the current stream, and Stream.from_handle wraps a handle"
                : is_graph ? "; definition.launch(config, kernel, *args) adds a kernel"
                           : "");
  }
  // Some libraries made it a property before the protocol settled on a method.
  return PyCallable_Check(protocol.ptr()) != 0 ? protocol() : protocol;
}

}  // namespace

py::str to_str(const std::filesystem::path& path) {
  const std::string& text = path.native();
  return checked<py::str>(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

std::filesystem::path to_path(py::handle object) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &encoded) == 0) throw py::error_already_set();
  return std::string(py::reinterpret_steal<py::bytes>(encoded));
}

std::shared_ptr<void> keep_alive(py::object object) {
  // If memory is short, the constructor of the share drops the reference.
  PyObject* kept = object.release().ptr();
  return {static_cast<void*>(kept), ReleaseObject{kept}};
}

py::object kept_object(const std::shared_ptr<void>& owner) {
  PyObject* kept = kept_by(owner);
  return py::reinterpret_borrow<py::object>(kept != nullptr ? kept : Py_None);
}

template <>
Py_hash_t hash_of(const Stream& stream) noexcept {
  return static_cast<Py_hash_t>(std::hash<const void*>{}(stream.box()->stream));
}

template <>
Py_hash_t hash_of(const Event& event) noexcept {
  return static_cast<Py_hash_t>(std::hash<const void*>{}(event.box().get()));
}

template <>
Py_hash_t hash_of(const Buffer& buffer) noexcept {
  const auto mixed = std::hash<unsigned long long>{}(buffer.handle()) ^ buffer.size();
  return static_cast<Py_hash_t>(mixed);
}

bool to_bool(py::handle object, const std::string& what) {
  if (PyBool_Check(object.ptr()) == 0) refuse_type(what, "a bool", object);
  return object.ptr() == Py_True;
}

py::object attribute_or_none(py::handle object, const char* name) {
  auto value = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object.ptr(), name));
  if (value) return value;
  // A property may raise AttributeError too; then the type has the name.
  const py::error_already_set raised;
  const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  if (!raised.matches(PyExc_AttributeError) || PyObject_HasAttrString(type.ptr(), name) != 0) {
    throw raised;
  }
  return py::none();
}

bool is_mapping(py::handle object) {
  return py::isinstance<py::dict>(object) ||
         (PyMapping_Check(object.ptr()) != 0 && !attribute_or_none(object, "keys").is_none());
}

py::dict copy_of(py::handle dict) { return checked<py::dict>(PyDict_Copy(dict.ptr())); }

std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

std::string type_with_article(py::handle object) {
  const std::string name = type_name(object);
  const bool has_vowel = std::string_view("aeioAEIO").find(name[0]) != std::string_view::npos;
  return (has_vowel ? "an " : "a ") + name;
}

std::string shown_attributes(py::handle object, const std::string& name,
                             std::initializer_list<const char*> attributes) {
  std::string text;
  for (const char* attribute : attributes) {
    try {
      const std::string value = py::repr(object.attr(attribute));
      text += (text.empty() ? "" : ", ") + std::string(attribute) + "=" + value;
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;
    }
  }
  return name + "(" + text + ")";
}

void refuse_type(const std::string& what, const std::string& expected, py::handle object,
                 const char* advice) {
  throw py::type_error(what + " must be " + expected + ", not " + type_name(object) + advice);
}

std::string in_small_letters(py::handle text) {
  return py::str(text.attr("lower")()).cast<std::string>();
}

py::str foreign_text(std::string_view text) {
  return checked<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

std::string shown(py::handle object) {
  constexpr std::size_t most_bits = 132;  // some 40 digits
  if (PyLong_Check(object.ptr()) != 0) {
    const py::handle type(reinterpret_cast<PyObject*>(&PyLong_Type));
    const auto bits = type.attr("bit_length")(object).cast<std::size_t>();
    if (bits > most_bits) return "an int of " + std::to_string(bits) + " bits";
  }
  const auto text = py::reinterpret_steal<py::object>(PyObject_Repr(object.ptr()));
  if (text) return text.cast<std::string>();
  const py::error_already_set raised;
  if (!raised.matches(PyExc_ValueError)) throw raised;
  return type_with_article(object);  // which holds an int of more digits than Python prints
}

Device to_device(py::handle object) {
  if (object.is_none()) return Device::current();
  if (const auto* device = get_if<PyDevice>(object.ptr())) return device->device;
  if (is_index(object)) {
    const Index ordinal = to_index(object);
    if (!ordinal.lies_in(std::numeric_limits<int>::min(), std::numeric_limits<int>::max())) {
      throw py::value_error("there is no device " + shown(ordinal.number) +
                            ": device_id must lie in 0 .. 2**31 - 1");
    }
    return Device(static_cast<int>(ordinal.value));
  }
  refuse_type("device_id", "a Device, an int or None", object);
}

Stream to_stream(py::handle object) {
  if (const auto* stream = get_if<Stream>(object.ptr())) return *stream;
  if (const auto* builder = get_if<GraphBuilder>(object.ptr())) return builder->capturing_stream();
  if (object.is_none()) {
    PyObject* entered = entered_stream();
    return entered != nullptr ? *get_if<Stream>(entered) : default_stream();
  }
  return Stream::from_handle(foreign_stream(object),
                             keep_alive(py::reinterpret_borrow<py::object>(object)));
}

CUstream foreign_stream(py::handle object) {
  if (is_torch_stream(Py_TYPE(object.ptr()))) {  // which would run Python code for the same
    const py::object handle = checked(PyObject_GetAttr(object.ptr(), handle_name()));
    return reinterpret_cast<CUstream>(to_address(handle, "the attribute cuda_stream"));
  }
  const py::object answer = ask_for_stream(object);
  if (const std::optional<CUstream> handle = plain_handle(answer.ptr())) return *handle;
  if (!py::isinstance<py::tuple>(answer) || py::len(answer) != 2) {
    throw py::type_error(type_name(object) +
                         ".__cuda_stream__() must return (version, address), not " + shown(answer));
  }
  const auto pair = py::reinterpret_borrow<py::tuple>(answer);
  if (to_address(pair[0], "the version that __cuda_stream__() returns") != 0) {
    throw py::type_error(type_name(object) + ".__cuda_stream__() speaks version " + shown(pair[0]) +
                         "; cudacore knows version 0");
  }
  const auto address = to_address(pair[1], "the address that __cuda_stream__() returns");
  return reinterpret_cast<CUstream>(address);
}

Stream to_stream(py::handle object, int device) {
  const bool is_chosen = !object.is_none() || entered_stream() != nullptr;
  return is_chosen || device < 0 ? to_stream(object) : Device(device).default_stream();
}

Stream to_stream(py::handle object, const Buffer& buffer) {
  const bool is_chosen = !object.is_none() || entered_stream() != nullptr;
  return is_chosen || buffer.is_closed() ? to_stream(object)
                                         : to_stream(object, buffer.device_id());
}

py::object to_object(const std::optional<Stream>& stream) {
  return stream ? py::cast(*stream) : py::object(py::none());
}

std::optional<Stream> to_optional_stream(py::handle object) {
  return object.is_none() ? std::nullopt : std::optional<Stream>(to_stream(object));
}

unsigned long long to_address(py::handle object, const char* what) {
  // Other objects than these, PyNumber_Long() would read as text.
  const PyNumberMethods* methods = Py_TYPE(object.ptr())->tp_as_number;
  const bool is_number =
      PyIndex_Check(object.ptr()) != 0 || (methods != nullptr && methods->nb_int != nullptr);
  if (!is_number || PyBool_Check(object.ptr()) != 0 || PyFloat_Check(object.ptr()) != 0) {
    refuse_type(what, "an int", object);
  }
  const auto number = py::reinterpret_steal<py::object>(PyIndex_Check(object.ptr()) != 0
                                                            ? PyNumber_Index(object.ptr())
                                                            : PyNumber_Long(object.ptr()));
  if (!number) {
    py::error_already_set raised;
    if (!raised.matches(PyExc_TypeError)) throw raised;
    try {
      refuse_type(what, "an int", object);
    } catch (const py::type_error& refusal) {
      py::raise_from(raised, PyExc_TypeError, refusal.what());
      throw py::error_already_set();
    }
  }
  return to_int<unsigned long long>(number, what);
}

}  // namespace cudacore::bindings
