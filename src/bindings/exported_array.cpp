// SPDX-License-Identifier: Apache-2.0
#include "bindings/exported_array.hpp"

#include <mutex>

#include "bindings/conversions.hpp"
#include "bindings/entered_streams.hpp"
#include "error/context_box.hpp"
#include "owner/default_streams.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

using dlpack::DeviceType;

namespace {

/// The device for work on memory, which belongs to none if the host can reach it.
Device where(dlpack::Device device) {
  return device.type == DeviceType::cuda ? Device(device.ordinal) : Device::current();
}

}  // namespace

ExportedArray exported(const Buffer& given) {
  const Buffer buffer = given;  // a share: a resource written in Python may close the object
  if (buffer.is_closed()) throw py::value_error("the Buffer is closed");
  const std::shared_ptr<owner::BufferBox>& box = buffer.box();
  box->throw_if_stale();
  ExportedArray array{.owner = "Buffer", .memory = box};
  array.is_read_only = box->is_read_only;
  {
    const std::scoped_lock lock(box->mutex);
    array.own_stream = Stream(box->stream);
  }
  array.resource = buffer.memory_resource();
  array.address = box->pointer;
  array.device = dlpack_device(buffer);
  array.is_host_accessible = buffer.is_host_accessible();
  array.is_device_accessible = buffer.is_device_accessible();
  array.type = dlpack::DataType{dlpack::TypeCode::sint, 8, 1};
  array.type_string = "|i1";
  array.layout = StridedLayout({static_cast<std::int64_t>(box->size)});
  return array;
}

dlpack::Device dlpack_device(const Buffer& given) {
  const Buffer buffer = given;  // as above
  if (buffer.is_managed()) return {DeviceType::cuda_managed, 0};
  if (buffer.is_host_accessible()) {
    return {buffer.is_device_accessible() ? DeviceType::cuda_host : DeviceType::cpu, 0};
  }
  if (!buffer.is_device_accessible()) {
    throw py::buffer_error(
        "Buffer: neither a device nor the host can reach the memory, so DLPack has no device for "
        "it");
  }
  return {DeviceType::cuda, buffer.device_id()};
}

Stream work_stream(dlpack::Device device) {
  if (PyObject* entered = entered_stream()) return *get_if<Stream>(entered);
  return where(device).default_stream();
}

Stream stream_on(dlpack::Device device, CUstream stream) {
  if (!owner::is_default_stream(stream)) return Stream::from_handle(stream);
  return Stream(owner::borrow_stream(stream, error::primary_context(where(device).id())));
}

void order_behind(const ExportedArray& array, const Stream& current, const Stream& consumer) {
  static_cast<void>(consumer.handle());  // refuses a closed one
  for (const Stream* producer : {&array.own_stream, &current}) {
    if (!producer->is_closed() && !(*producer == consumer)) consumer.wait(*producer);
  }
}

void wait_for_work() {
  for (const std::shared_ptr<error::ContextBox>& context : error::known_contexts()) {
    if (context->lost.load(std::memory_order_acquire)) {  // nothing runs there any more
      continue;
    }
    try {
      Context(context).sync();
    } catch (const Error& error) {
      const bool has_ended = error.code() == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
                             error.code() == CUDA_ERROR_INVALID_CONTEXT;
      if (!has_ended) throw;
    }
  }
}

py::dict cuda_array_interface(const ExportedArray& array) {
  if (!array.is_device_accessible) {
    throw py::attribute_error(std::string(array.owner) +
                              ".__cuda_array_interface__: no device can reach the memory");
  }
  if (array.type_string.empty()) {
    throw py::attribute_error(std::string(array.owner) +
                              ".__cuda_array_interface__: the protocol has no name for elements "
                              "of this type; DLPack has one");
  }
  const Stream current = work_stream(array.device);
  {
    const ReleaseGil release;
    order_behind(array, current, current);
  }
  const StridedLayout& layout = array.layout;
  const bool is_empty = layout.count() == 0;
  const auto item_size = static_cast<std::int64_t>(array.item_size);
  py::tuple shape(layout.rank());
  py::tuple strides(layout.rank());
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    shape[i] = layout.shape()[i];
    strides[i] = layout.strides()[i] * item_size;
  }
  py::dict description;
  description["version"] = 3;
  description["shape"] = shape;
  description["typestr"] = array.type_string;
  description["data"] = py::make_tuple(is_empty ? 0 : array.address, array.is_read_only);
  description["strides"] = layout.is_c_contiguous() ? py::object(py::none()) : strides;
  description["stream"] = reinterpret_cast<std::uintptr_t>(current.handle());
  return description;
}

}  // namespace cudacore::bindings
