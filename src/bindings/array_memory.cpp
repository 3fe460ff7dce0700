// SPDX-License-Identifier: Apache-2.0
#include "bindings/array_memory.hpp"

#include "bindings/conversions.hpp"
#include "bindings/exported_array.hpp"

namespace cudacore::bindings {
namespace {

/// What __array__ returns; null if the object does not have it.
py::object host_array_of(py::handle object, const char* what) {
  static PyObject* const name = interned("__array__");
  const py::object method = optional_attribute(object.ptr(), name);
  if (!method || method.is_none() || PyType_Check(object.ptr()) != 0) return {};
  py::object array = method();
  if (PyObject_CheckBuffer(array.ptr()) == 0) {
    throw py::type_error(std::string(what) + ": __array__() of " + type_with_article(object) +
                         " must return an array, not " + type_name(array));
  }
  return array;
}

/// CuPy's arrays have the buffer protocol, and refuse to show the memory of a device by it.
bool is_host_object(py::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  static PyObject* const name = interned("__cuda_array_interface__");
  const py::object description = optional_attribute(object.ptr(), name);
  return !description || description.is_none();
}

}  // namespace

ArrayMemory::ArrayMemory(py::handle object, bool writable, const Stream& stream, const char* what)
    : stream_(stream) {
  const auto show = [&](py::handle host) {
    host_.emplace(host, writable, what);
    shown_ = py::reinterpret_borrow<py::object>(host);
  };
  if (is_host_object(object)) {
    show(object);
    return;
  }
  const auto refuse = [&](const std::string& why) {
    throw py::type_error(std::string(what) + ": this " + type_name(object) + ": " + why);
  };
  try {
    if (!read_foreign_array(object.ptr(), stream.handle(), Sharing::share, array_)) {
      const py::object shown = writable ? py::object() : host_array_of(object, what);
      show(shown ? py::handle(shown) : object);
      return;
    }
  } catch (const ForeignArrayError& error) {
    refuse(error.what());
  }
  if (!array_.is_c_contiguous) {
    refuse(writable ? "it is not C-contiguous; copy to a fresh array, and assign that to this one"
                    : "it is not C-contiguous; pass a contiguous copy: tensor.contiguous() in "
                      "PyTorch, ascontiguousarray(array) in NumPy and CuPy");
  }
  if (writable && array_.read_only) refuse("it is read-only");
  const dlpack::DeviceType type = array_.tensor.device.type;
  if (!is_known(type)) refuse(unknown_device(type));
  const CUstream producer = is_on_host() ? nullptr : producer_stream(array_);
  if (producer != nullptr && producer != stream.handle()) {
    producer_ = stream_on(array_.tensor.device, producer);
  }
}

ArrayElements ArrayMemory::elements() const {
  if (host_) return elements_of_host_object(shown_);
  const dlpack::Tensor& tensor = array_.tensor;
  const bool is_typed = tensor.type.code != dlpack::TypeCode::opaque_handle;
  return {is_typed, tensor.type, {tensor.shape, tensor.shape + tensor.dimensions}};
}

std::size_t ArrayMemory::size() const noexcept {
  return host_ ? host_->bytes().size() : array_.count * array_.item_size;
}

bool ArrayMemory::is_on_host() const noexcept {
  return host_ || array_.tensor.device.type == dlpack::DeviceType::cpu;
}

std::span<std::byte> ArrayMemory::host_bytes() const noexcept {
  return host_ ? host_->bytes() : std::span(static_cast<std::byte*>(array_.tensor.data), size());
}

Buffer ArrayMemory::device_bytes() const {
  return Buffer::from_handle(reinterpret_cast<std::uintptr_t>(array_.tensor.data), size());
}

template <typename Copy>
void ArrayMemory::in_order(const Copy& copy) const {
  if (producer_) stream_.wait(*producer_);
  copy();
  if (producer_) producer_->wait(stream_);
}

void ArrayMemory::copy_to(const Buffer& target) const {
  if (is_on_host()) {
    target.copy_from(host_bytes(), stream_);
  } else {
    in_order([&] { target.copy_from(device_bytes(), stream_); });
  }
}

void ArrayMemory::copy_from(const Buffer& source) const {
  if (is_on_host()) {
    source.copy_to(host_bytes(), stream_);
  } else {
    in_order([&] { device_bytes().copy_from(source, stream_); });
  }
}

void ArrayMemory::copy_to(const OpaqueArray& target) const {
  if (is_on_host()) {
    target.copy_from(host_bytes(), stream_);
  } else {
    in_order([&] { target.copy_from(device_bytes(), stream_); });
  }
}

void ArrayMemory::copy_from(const OpaqueArray& source) const {
  if (is_on_host()) {
    source.copy_to(host_bytes(), stream_);
  } else {
    in_order([&] { source.copy_to(device_bytes(), stream_); });
  }
}

}  // namespace cudacore::bindings
