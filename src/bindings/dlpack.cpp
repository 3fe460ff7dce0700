// SPDX-License-Identifier: Apache-2.0
#include "bindings/dlpack.hpp"

#include <mutex>

#include "bindings/conversions.hpp"
#include "bindings/dlpack_abi.hpp"
#include "bindings/entered_streams.hpp"
#include "error/context_box.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {
namespace {

/// A managed tensor with what it points at; the buffer's share keeps the memory.
template <typename Managed>
struct Export {
  Managed managed{};
  Buffer buffer;
  std::int64_t shape = 0;
  std::int64_t stride = 1;

  explicit Export(const Buffer& source) : buffer(source) {}
  static void drop(Managed* managed) { delete static_cast<Export*>(managed->context); }
};

/// A capsule that no one consumed frees the tensor; a consumer renames it first.
template <typename Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Managed::name) != 0) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
    managed->deleter(managed);
  }
}

dlpack::Device device_of(const Buffer& buffer) {
  if (buffer.is_managed()) return {dlpack::DeviceType::cuda_managed, 0};
  if (!buffer.is_device_accessible() && !buffer.is_host_accessible()) {
    throw py::buffer_error(
        "Buffer: neither a device nor the host can reach the memory, so DLPack has no device for "
        "it");
  }
  if (buffer.is_host_accessible()) {
    return {buffer.is_device_accessible() ? dlpack::DeviceType::cuda_host : dlpack::DeviceType::cpu,
            0};
  }
  return {dlpack::DeviceType::cuda, buffer.device_id()};
}

template <typename Managed>
py::object make_capsule(const Buffer& buffer, dlpack::Device device) {
  auto state = std::make_unique<Export<Managed>>(buffer);
  state->shape = static_cast<std::int64_t>(buffer.size());
  state->managed.context = state.get();
  state->managed.deleter = &Export<Managed>::drop;
  dlpack::Tensor& tensor = state->managed.tensor;
  tensor.data = reinterpret_cast<void*>(buffer.handle());
  tensor.device = device;
  tensor.dimensions = 1;
  tensor.type = {dlpack::TypeCode::sint, 8, 1};
  tensor.shape = &state->shape;
  tensor.strides = &state->stride;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
    state->managed.version = {1, 0};
  }
  py::object capsule =
      checked(PyCapsule_New(&state->managed, Managed::name, &destroy_capsule<Managed>));
  static_cast<void>(state.release());
  return capsule;
}

/// Unset if the object is not an int, or is too large. What its __index__ raises is passed on.
std::optional<long long> to_long_long(py::handle object) {
  if (PyIndex_Check(object.ptr()) == 0) return std::nullopt;
  const Index index = to_index(object);
  return index.fits ? std::optional(index.value) : std::nullopt;
}

/// A pair of ints, as DLPack has devices and versions.
std::pair<long long, long long> to_pair(py::handle object, const char* what) {
  const bool is_pair = PyTuple_Check(object.ptr()) != 0 && PyTuple_GET_SIZE(object.ptr()) == 2;
  const auto first = is_pair ? to_long_long(PyTuple_GET_ITEM(object.ptr(), 0)) : std::nullopt;
  const auto second = is_pair ? to_long_long(PyTuple_GET_ITEM(object.ptr(), 1)) : std::nullopt;
  if (!first || !second) {
    raise_as_both(PyExc_TypeError, PyExc_BufferError,
                  std::string("Buffer.__dlpack__: ") + what +
                      " must be None or a tuple of two ints, not " + shown(object));
  }
  return {*first, *second};
}

// DLPack's numbers for streams; a larger one is a CUstream.
constexpr long long no_order = -1;
constexpr long long legacy_stream = 1;
constexpr long long per_thread_stream = 2;

/// Unset for None.
std::optional<long long> to_stream_number(py::handle stream) {
  if (stream.is_none()) return std::nullopt;
  if (PyLong_Check(stream.ptr()) == 0 || PyBool_Check(stream.ptr()) != 0) {
    refuse_type("Buffer.__dlpack__: stream", "an int or None", stream);
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(stream.ptr(), &overflow);
  if (overflow != 0 || number < no_order || number == 0) {
    throw py::value_error(
        "Buffer.__dlpack__: stream must be -1 (no order), 1 (legacy default), 2 "
        "(per-thread default) or a CUstream, not " +
        shown(stream));
  }
  return number;
}

/// Waits for all work that this process has queued, since any of it may use the memory.
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

Stream default_stream_of(const Device& device, CUstream stream) {
  auto box = std::make_shared<owner::StreamBox>();
  box->context = error::primary_context(device.id());
  box->stream = stream;
  return Stream(std::move(box));
}

/// The stream that the allocation and the release are ordered on; a closed one if there is none.
Stream own_stream(const Buffer& buffer) {
  const std::scoped_lock lock(buffer.box()->mutex);
  return Stream(buffer.box()->stream);
}

/// Makes the consumer's stream wait for the buffer's own stream and for the current one.
void order_streams(const Buffer& buffer, const Stream& current, const Stream& consumer) {
  for (const Stream& producer : {own_stream(buffer), current}) {
    if (!producer.is_closed() && !(producer == consumer)) consumer.wait(producer);
  }
}

/// What DLPack asks of a producer: a host reads at once, and a device in the order of its stream.
void make_ready(const Buffer& buffer, dlpack::Device device, std::optional<long long> consumer) {
  const auto is = [&](dlpack::DeviceType type) { return device.type == type; };
  if (is(dlpack::DeviceType::cpu) || (!consumer && !is(dlpack::DeviceType::cuda))) {
    const ReleaseGil release;
    wait_for_work();
    return;
  }
  PyObject* entered = entered_stream();
  Stream current = entered != nullptr ? *get_if<Stream>(entered) : Stream(nullptr);
  const ReleaseGil release;
  const Device where = is(dlpack::DeviceType::cuda) ? Device(device.ordinal) : Device::current();
  if (entered == nullptr) current = where.default_stream();
  const long long number = consumer.value_or(legacy_stream);
  order_streams(
      buffer, current,
      number == legacy_stream ? default_stream_of(where, CU_STREAM_LEGACY)
      : number == per_thread_stream
          ? default_stream_of(where, CU_STREAM_PER_THREAD)
          : Stream::from_handle(reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(number))));
}

}  // namespace

py::tuple dlpack_device(const Buffer& buffer) {
  const dlpack::Device device = device_of(buffer);
  return py::make_tuple(static_cast<int>(device.type), device.ordinal);
}

py::object dlpack_capsule(const Buffer& given, py::handle stream, py::handle max_version,
                          py::handle dl_device, py::handle copy) {
  const Buffer buffer = given;  // a share: the arguments' conversion may close the object
  if (buffer.is_closed()) throw py::value_error("Buffer.__dlpack__: the buffer is closed");
  buffer.box()->throw_if_stale();
  const std::optional<long long> consumer = to_stream_number(stream);
  const int is_copy = PyObject_IsTrue(copy.ptr());  // None is false
  if (is_copy < 0) throw py::error_already_set();
  if (is_copy != 0) throw py::buffer_error("Buffer.__dlpack__: cannot copy; use Buffer.copy_to");
  dlpack::Device device = device_of(buffer);
  if (!dl_device.is_none()) {
    const auto [type, ordinal] = to_pair(dl_device, "dl_device");
    const auto own_type = static_cast<long long>(device.type);
    const bool host_view =
        type == static_cast<long long>(dlpack::DeviceType::cpu) && buffer.is_host_accessible();
    if (!host_view && (type != own_type || ordinal != device.ordinal)) {
      throw py::buffer_error("Buffer.__dlpack__: the memory is on DLPack device (" +
                             std::to_string(own_type) + ", " + std::to_string(device.ordinal) +
                             "), not (" + std::to_string(type) + ", " + std::to_string(ordinal) +
                             "); copy it with Buffer.copy_to");
    }
    device = {static_cast<dlpack::DeviceType>(type), static_cast<std::int32_t>(ordinal)};
  }
  const long long major = max_version.is_none() ? 0 : to_pair(max_version, "max_version").first;
  if (!consumer || *consumer != no_order) make_ready(buffer, device, consumer);
  if (major >= 1) return make_capsule<dlpack::ManagedTensorVersioned>(buffer, device);
  return make_capsule<dlpack::ManagedTensor>(buffer, device);
}

}  // namespace cudacore::bindings
