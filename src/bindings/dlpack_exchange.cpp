// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/foreign_view.hpp"
#include "bindings/new_array.hpp"
#include "owner/owned_handles.hpp"

// DLPack's C exchange API: one table for Buffer and StridedMemoryView.

namespace cudacore::bindings {
namespace {

using dlpack::DeviceType;
using dlpack::ManagedTensorVersioned;

[[noreturn]] void refuse(PyObject* object) {
  refuse_type("the DLPack exchange API of cudacore: the object", "a Buffer or a StridedMemoryView",
              object);
}

int from_object(void* object, ManagedTensorVersioned** made) {
  return status_of([&] {
    *made = nullptr;
    auto* const python = static_cast<PyObject*>(object);
    if (const auto* buffer = get_if<Buffer>(python)) {
      *made = make_managed_tensor(exported(*buffer));
    } else if (const auto* view = get_if<StridedView>(python)) {
      *made = make_managed_tensor(exported(*view));
    } else {
      refuse(python);
    }
  });
}

/// All bytes of a buffer; their number lies in its box.
dlpack::Tensor tensor_of_bytes(const Buffer& given) {
  static std::int64_t stride = 1;
  const Buffer buffer = given;  // a share: a resource may be written in Python
  const ExportedArray array = exported(buffer);
  if (given.is_closed()) throw py::value_error("the Buffer was closed meanwhile");
  dlpack::Tensor tensor = tensor_of(array);
  tensor.shape = reinterpret_cast<std::int64_t*>(&buffer.box()->size);
  tensor.strides = &stride;
  return tensor;
}

int borrow_from_object(void* object, dlpack::Tensor* filled) {
  return status_of([&] {
    auto* const python = static_cast<PyObject*>(object);
    if (const auto* view = get_if<StridedView>(python)) {
      *filled = borrowed_tensor(*view);
    } else if (const auto* buffer = get_if<Buffer>(python)) {
      *filled = tensor_of_bytes(*buffer);
    } else {
      refuse(python);
    }
  });
}

int to_object(ManagedTensorVersioned* tensor, void** made) {
  return status_of([&] {
    *made = nullptr;
    if (tensor == nullptr) throw std::runtime_error("cudacore: the DLPack tensor is null");
    *made = py::cast(view_tensor(tensor)).release().ptr();
  });
}

int current_stream(DeviceType type, std::int32_t ordinal, void** stream) {
  return status_of([&] {
    *stream = nullptr;
    if (type != DeviceType::cpu) *stream = work_stream({type, ordinal}).handle();
  });
}

/// Memory like a prototype's, from what the calling thread's Device objects allocate from.
ExportedArray new_array_like(const dlpack::Tensor& prototype) {
  const int rank = prototype.dimensions;
  if (rank < 0 || rank > ForeignArray::most_dimensions) {
    throw py::value_error("cudacore: the DLPack prototype has " + std::to_string(rank) +
                          " dimensions; an array has 0 to " +
                          std::to_string(ForeignArray::most_dimensions));
  }
  if (rank != 0 && prototype.shape == nullptr) {
    throw py::value_error("cudacore: the DLPack prototype has dimensions, but no shape");
  }
  const dlpack::Device device = prototype.device;
  const bool is_device = device.type == DeviceType::cuda;
  StridedLayout layout({prototype.shape, prototype.shape + rank});
  std::shared_ptr<MemoryResource> resource;
  Stream stream(nullptr);
  if (is_device) {
    const py::object object = device_object(device.ordinal);
    resource = resource_of(*get_if<PyDevice>(object.ptr()));
    stream = work_stream(device);
  }
  const ReleaseGil release;
  return new_array(prototype.type, std::move(layout), device, std::move(resource), stream);
}

/// The name of the built-in class that an error is closest to.
const char* kind_of(const py::error_already_set& error) {
  if (error.matches(PyExc_MemoryError)) return "MemoryError";
  if (error.matches(PyExc_BufferError)) return "BufferError";
  if (error.matches(PyExc_ValueError)) return "ValueError";
  return "RuntimeError";
}

/// May be called without the GIL.
int allocate(dlpack::Tensor* prototype, ManagedTensorVersioned** made, void* context,
             dlpack::ExchangeApi::SetError set_error) {
  *made = nullptr;
  if (prototype == nullptr || set_error == nullptr) return -1;
  if (!may_take_gil()) {
    set_error(context, "RuntimeError", "cudacore: Python is not running any more");
    return -1;
  }
  const AcquireGil acquire;
  const py::error_scope kept_error;
  const int status = status_of([&] { *made = make_managed_tensor(new_array_like(*prototype)); });
  if (status == 0) return 0;
  const py::error_already_set raised;
  set_error(context, kind_of(raised), exception_message(raised).c_str());
  return -1;
}

constexpr dlpack::ExchangeApi table = {.version = {1, 3},
                                       .previous = nullptr,
                                       .allocate = &allocate,
                                       .from_object = &from_object,
                                       .to_object = &to_object,
                                       .borrow_from_object = &borrow_from_object,
                                       .current_stream = &current_stream};

}  // namespace

const dlpack::ExchangeApi& own_exchange_api() noexcept { return table; }

py::object exchange_capsule() {
  return checked(
      PyCapsule_New(const_cast<dlpack::ExchangeApi*>(&table), dlpack::ExchangeApi::name, nullptr));
}

}  // namespace cudacore::bindings
