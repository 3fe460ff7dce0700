// SPDX-License-Identifier: Apache-2.0
#include "bindings/foreign_view.hpp"

#include "bindings/array_interface.hpp"
#include "bindings/conversions.hpp"
#include "bindings/dlpack_import.hpp"
#include "driver/driver_api.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::DeviceType;

/// Unset for no order.
std::optional<Stream> to_consumer(py::handle stream) {
  if (!is_index(stream)) return to_stream(stream);
  const Index number = to_index(stream);
  if (!number.fits || number.value < -1) {
    throw py::value_error("stream_ptr must be a CUstream, or -1 for no order, not " +
                          shown(number.number));
  }
  if (number.value == -1) return std::nullopt;
  return Stream::from_handle(
      reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(number.value)));  // NOLINT
}

/// Shares what keeps an array's memory. It is released with the GIL, which other libraries may take
/// for granted, or not at all once Python has ended.
std::shared_ptr<const void> share(ForeignArray::Owner owner) {
  if (owner == nullptr) return nullptr;
  const auto release = owner.get_deleter();
  return {owner.release(), [release](void* tensor) {
            if (!may_take_gil()) return;
            const AcquireGil acquire;
            release(tensor);
          }};
}

/// Of a view of one of our own views, the exporter is that of the first: closing its Buffer is
/// noticed, and views of views make no chain.
void take_over_exporter(StridedView& view) {
  const auto* inner = get_if<StridedView>(view.exporter.ptr());
  if (inner == nullptr) return;
  if (view.memory == nullptr) view.memory = inner->memory;
  view.exporter = py::object(inner->exporter);
}

StridedView to_view(py::object exporter, ForeignArray& array) {
  const dlpack::Tensor& tensor = array.tensor;
  if (!is_known(tensor.device.type)) {
    throw py::buffer_error("the array: " + dlpack::unknown_device(tensor.device.type));
  }
  std::vector<std::int64_t> shape(tensor.shape, tensor.shape + tensor.dimensions);
  std::optional<std::vector<std::int64_t>> strides;
  if (tensor.strides != nullptr) strides.emplace(tensor.strides, tensor.strides + shape.size());
  StridedView view{.exporter = std::move(exporter)};
  view.memory = share(std::move(array.owner));
  view.address = reinterpret_cast<std::uintptr_t>(tensor.data);
  view.element = element_type_of(tensor.type);
  view.has_strides = strides && view.memory == nullptr;
  view.layout = StridedLayout(std::move(shape), std::move(strides));
  view.is_read_only = array.read_only;
  view.device = tensor.device;
  view.device_id = tensor.device.type == DeviceType::cpu ? -1 : tensor.device.ordinal;
  take_over_exporter(view);
  return view;
}

/// The device of the calling thread's current context; -1 without one. No driver is opened to find
/// out: before its first use, nothing of cudacore is current.
int current_device_id() noexcept {
  const driver::DriverApi* api = driver::api_for_cleanup();
  CUdevice device = -1;
  const bool is_known = api != nullptr && api->cuCtxGetDevice(&device) == CUDA_SUCCESS;
  return is_known ? device : -1;
}

/// Runs a body whose ForeignArrayError programs for cuda.core catch as a BufferError, or, about
/// strides, as a ValueError.
template <typename Body>
auto buffer_error_too(const Body& body) {
  try {
    return body();
  } catch (const ForeignStrideError& error) {
    raise_as_both(PyExc_TypeError, PyExc_ValueError, error.what());
  } catch (const ForeignArrayError& error) {
    raise_as_both(PyExc_TypeError, PyExc_BufferError, error.what());
  }
}

}  // namespace

bool read_any_dlpack(PyObject* object, CUstream consumer, ForeignArray& array) {
  return read_exchange_api(object, Sharing::share, array) || read_dlpack(object, consumer, array);
}

bool read_cuda_interface(PyObject* object, CUstream /*consumer*/, ForeignArray& array) {
  if (!read_cuda_array_interface(object, array)) return false;
  const dlpack::TypeCode code = array.tensor.type.code;
  if (code == dlpack::TypeCode::complex || code == dlpack::TypeCode::real) refuse_lazy(object);
  return true;
}

bool read_host_interface(PyObject* object, CUstream /*consumer*/, ForeignArray& array) {
  return read_array_interface(object, array);
}

StridedView view_array(const py::object& object, py::handle stream,
                       std::initializer_list<ArrayReader> readers) {
  driver::throw_if_forked();
  const std::optional<Stream> consumer = to_consumer(stream);
  const CUstream handle = consumer ? consumer->handle() : nullptr;
  return buffer_error_too([&] {
    ForeignArray array;
    const auto* reader = std::find_if(readers.begin(), readers.end(), [&](ArrayReader read) {
      return read(object.ptr(), handle, array);
    });
    if (reader == readers.end()) {
      throw py::buffer_error("StridedMemoryView: this " + type_name(object) +
                             " does not support the data exchange protocol asked for: DLPack, "
                             "__cuda_array_interface__ or __array_interface__");
    }
    if (consumer) {
      const CUstream producer = producer_stream(array);
      if (producer != nullptr && producer != handle) {
        const ReleaseGil release;
        consumer->wait(stream_on(array.tensor.device, producer));
      }
    }
    StridedView view = to_view(object, array);
    if (*reader == &read_host_interface) view.viewed_on = current_device_id();
    return view;
  });
}

StridedView view_tensor(dlpack::ManagedTensorVersioned* tensor) {
  return buffer_error_too([&] {
    ForeignArray array;
    read_managed_tensor(tensor, array);
    return to_view(py::none(), array);
  });
}

}  // namespace cudacore::bindings
