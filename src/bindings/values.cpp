// SPDX-License-Identifier: Apache-2.0
#include "bindings/values.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/gil.hpp"

namespace cudacore::bindings {

namespace {

struct ReleaseObject {
  void operator()(void* object) const noexcept {
    if (may_take_gil()) {
      const AcquireGil acquire;
      Py_DECREF(static_cast<PyObject*>(object));
    }
  }
};

std::vector<Stream>& current_streams() {
  thread_local std::vector<Stream> streams;
  return streams;
}

}  // namespace

py::str to_str(const std::filesystem::path& path) {
  const std::string& text = path.native();
  PyObject* decoded =
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (decoded == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::str>(decoded);
}

std::shared_ptr<void> keep_alive(py::object object) {
  std::shared_ptr<void> owner(static_cast<void*>(object.ptr()), ReleaseObject{});
  object.release();
  return owner;
}

py::object kept_object(const std::shared_ptr<void>& owner) {
  if (owner != nullptr && std::get_deleter<ReleaseObject>(owner) != nullptr) {
    return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(owner.get()));
  }
  return py::none();
}

std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

Device to_device(py::handle object) {
  if (object.is_none()) {
    return Device::current();
  }
  if (const auto* device = get_if<PyDevice>(object.ptr())) {
    return device->device;
  }
  if (PyBool_Check(object.ptr()) == 0 && PyIndex_Check(object.ptr()) != 0) {
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    int overflow = 0;
    const long ordinal = index ? PyLong_AsLongAndOverflow(index.ptr(), &overflow) : -1;
    if (PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    // An ordinal past int is past every device count: let the Device say so.
    return Device(
        overflow != 0 || ordinal != static_cast<int>(ordinal) ? -1 : static_cast<int>(ordinal));
  }
  throw py::type_error("device_id must be a Device, an int or None, not " + type_name(object));
}

Stream to_stream(py::handle object) {
  if (const auto* stream = get_if<Stream>(object.ptr())) {
    return *stream;
  }
  if (object.is_none()) {
    return current_stream();
  }
  const py::object protocol = py::getattr(object, "__cuda_stream__", py::none());
  if (protocol.is_none()) {
    throw py::type_error("stream must be a cudacore.Stream or have __cuda_stream__, not " +
                         type_name(object));
  }
  // Some libraries made it a property before the protocol settled on a method.
  const py::object answer = PyCallable_Check(protocol.ptr()) != 0 ? protocol() : protocol;
  if (!py::isinstance<py::tuple>(answer) || py::len(answer) != 2) {
    throw py::type_error(type_name(object) +
                         ".__cuda_stream__() must return (version, address), not " +
                         py::repr(answer).cast<std::string>());
  }
  const auto pair = py::reinterpret_borrow<py::tuple>(answer);
  if (to_address(pair[0], "the version that __cuda_stream__() returns") != 0) {
    throw py::type_error(type_name(object) + ".__cuda_stream__() speaks version " +
                         py::repr(pair[0]).cast<std::string>() + "; cudacore knows version 0");
  }
  const auto address = to_address(pair[1], "the address that __cuda_stream__() returns");
  return Stream::from_handle(reinterpret_cast<CUstream>(address),
                             keep_alive(py::reinterpret_borrow<py::object>(object)));
}

Stream to_stream(py::handle object, int device) {
  const bool is_chosen = !object.is_none() || !current_streams().empty();
  return is_chosen || device < 0 ? to_stream(object) : Device(device).default_stream();
}

Stream to_stream(py::handle object, const Buffer& buffer) {
  const bool is_chosen = !object.is_none() || !current_streams().empty();
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
  if (PyBool_Check(object.ptr()) != 0 || PyFloat_Check(object.ptr()) != 0 ||
      PyUnicode_Check(object.ptr()) != 0 || PyBytes_Check(object.ptr()) != 0) {
    throw py::type_error(std::string(what) + " must be an int, not " + type_name(object));
  }
  const auto number = py::reinterpret_steal<py::object>(PyIndex_Check(object.ptr()) != 0
                                                            ? PyNumber_Index(object.ptr())
                                                            : PyNumber_Long(object.ptr()));
  if (!number) {
    PyErr_Clear();
    throw py::type_error(std::string(what) + " must be an int, not " + type_name(object));
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "%s must lie in 0 .. 2**64 - 1, not %R", what, number.ptr());
    throw py::error_already_set();
  }
  return value;
}

std::size_t to_byte_count(py::handle object, const char* what) {
  if (PyBool_Check(object.ptr()) != 0 || PyIndex_Check(object.ptr()) == 0) {
    throw py::type_error(std::string(what) + ": size must be an int, not " + type_name(object));
  }
  const Py_ssize_t size = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
  if (size == -1 && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  if (size < 0) {
    throw py::value_error(std::string(what) + ": size must not be negative, but is " +
                          std::to_string(size));
  }
  return static_cast<std::size_t>(size);
}

const Stream& current_stream() {
  static const Stream fallback = Stream::legacy_default();
  const auto& streams = current_streams();
  return streams.empty() ? fallback : streams.back();
}

void push_current_stream(const Stream& stream) { current_streams().push_back(stream); }

void pop_current_stream(const Stream& stream) {
  auto& streams = current_streams();
  const auto last = std::find_if(streams.rbegin(), streams.rend(), [&](const Stream& candidate) {
    return candidate.box() == stream.box();
  });
  if (last != streams.rend()) {
    streams.erase(std::next(last).base());
  }
}

}  // namespace cudacore::bindings
