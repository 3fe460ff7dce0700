// SPDX-License-Identifier: Apache-2.0
#include "bindings/dlpack.hpp"

#include "bindings/conversions.hpp"
#include "bindings/new_array.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::DeviceType;
using dlpack::ManagedTensor;
using dlpack::ManagedTensorVersioned;

/// A managed tensor with what it points at.
template <typename Managed>
struct Export {
  Managed managed{};
  ExportedArray array;

  explicit Export(ExportedArray source) : array(std::move(source)) {}
  static void drop(Managed* managed) { delete static_cast<Export*>(managed->context); }
};

template <typename Managed>
Managed* make_managed(ExportedArray array) {
  require_dlpack_type(array);
  auto state = std::make_unique<Export<Managed>>(std::move(array));
  const ExportedArray& shown = state->array;
  Managed& managed = state->managed;
  managed.context = state.get();
  managed.deleter = &Export<Managed>::drop;
  managed.tensor = tensor_of(shown);
  if constexpr (std::is_same_v<Managed, ManagedTensorVersioned>) {
    managed.version = {1, 3};
    managed.flags = (shown.is_read_only ? ManagedTensorVersioned::read_only : 0) |
                    (shown.is_copied ? ManagedTensorVersioned::is_copied : 0);
  }
  static_cast<void>(state.release());
  return &managed;
}

/// A capsule that no one consumed frees the tensor; a consumer renames it first.
template <typename Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Managed::name) != 0) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
    managed->deleter(managed);
  }
}

template <typename Managed>
py::object make_capsule(ExportedArray array) {
  Managed* managed = make_managed<Managed>(std::move(array));
  PyObject* capsule = PyCapsule_New(managed, Managed::name, &destroy_capsule<Managed>);
  if (capsule == nullptr) managed->deleter(managed);
  return checked(capsule);
}

/// Unset if the object is not an int, or is too large. What its __index__ raises is passed on.
std::optional<long long> to_long_long(py::handle object) {
  if (PyIndex_Check(object.ptr()) == 0) return std::nullopt;
  const Index index = to_index(object);
  return index.fits ? std::optional(index.value) : std::nullopt;
}

/// A pair of ints, as DLPack has devices and versions.
std::pair<long long, long long> to_pair(const std::string& what, py::handle object) {
  const bool is_pair = PyTuple_Check(object.ptr()) != 0 && PyTuple_GET_SIZE(object.ptr()) == 2;
  const auto first = is_pair ? to_long_long(PyTuple_GET_ITEM(object.ptr(), 0)) : std::nullopt;
  const auto second = is_pair ? to_long_long(PyTuple_GET_ITEM(object.ptr(), 1)) : std::nullopt;
  if (!first || !second) {
    raise_as_both(PyExc_TypeError, PyExc_BufferError,
                  what + " must be None or a tuple of two ints, not " + shown(object));
  }
  return {*first, *second};
}

// DLPack's numbers for streams; a larger one is a CUstream. 2 is the per-thread default stream.
constexpr long long no_order = -1;
constexpr long long legacy_stream = 1;

/// Unset for None.
std::optional<long long> to_stream_number(const std::string& what, py::handle stream) {
  if (stream.is_none()) return std::nullopt;
  if (PyLong_Check(stream.ptr()) == 0 || PyBool_Check(stream.ptr()) != 0) {
    refuse_type(what + ": stream", "an int or None", stream);
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(stream.ptr(), &overflow);
  if (overflow != 0 || number < no_order || number == 0) {
    throw py::value_error(what +
                          ": stream must be -1 (no order), 1 (legacy default), 2 (per-thread "
                          "default) or a CUstream, not " +
                          shown(stream));
  }
  return number;
}

/// What DLPack asks of a producer: a host reads at once, and a device in the order of its stream.
void make_ready(const ExportedArray& array, const Stream& current,
                std::optional<long long> consumer) {
  const DeviceType type = array.device.type;
  const ReleaseGil release;
  if (type == DeviceType::cpu || (!consumer && type != DeviceType::cuda)) {
    wait_for_work();
    return;
  }
  const auto number = static_cast<std::uintptr_t>(consumer.value_or(legacy_stream));
  order_behind(array, current, stream_on(array.device, reinterpret_cast<CUstream>(number)));
}

/// How a consumer wants the memory: its device, and whether it may or must be a copy.
struct Wish {
  dlpack::Device device;
  bool copies;
};

Wish to_wish(const ExportedArray& array, const std::string& what, py::handle dl_device,
             py::handle copy) {
  const int is_copy = PyObject_IsTrue(copy.ptr());  // None is false
  if (is_copy < 0) throw py::error_already_set();
  const bool may_copy = copy.is_none() || is_copy != 0;
  dlpack::Device device = array.device;
  if (dl_device.is_none()) return {device, is_copy != 0};
  const auto [type, ordinal] = to_pair(what + ": dl_device", dl_device);
  const bool is_own = type == static_cast<long long>(device.type) && ordinal == device.ordinal;
  const bool is_host = type == static_cast<long long>(DeviceType::cpu) && ordinal == 0;
  if (is_own) return {device, is_copy != 0};
  if (is_host && array.is_host_accessible) return {{DeviceType::cpu, 0}, is_copy != 0};
  if (is_host && may_copy) return {{DeviceType::cpu, 0}, true};
  throw py::buffer_error(
      what + ": the memory is on DLPack device (" + std::to_string(static_cast<int>(device.type)) +
      ", " + std::to_string(device.ordinal) + "), not (" + std::to_string(type) + ", " +
      std::to_string(ordinal) + ")" +
      (is_host ? ", where only a copy can be" : "; copy it with Buffer.copy_to"));
}

}  // namespace

py::object dlpack_capsule(ExportedArray array, py::handle stream, py::handle max_version,
                          py::handle dl_device, py::handle copy) {
  const std::string what = std::string(array.owner) + ".__dlpack__";
  const std::optional<long long> consumer = to_stream_number(what, stream);
  const Wish wish = to_wish(array, what, dl_device, copy);
  const long long major =
      max_version.is_none() ? 0 : to_pair(what + ": max_version", max_version).first;
  if (array.is_read_only && major < 1) {
    throw py::buffer_error(what +
                           ": the memory is read-only, which only DLPack 1.0 can say; ask for it "
                           "with max_version=(1, 0)");
  }
  require_dlpack_type(array);
  const bool has_order = !consumer || *consumer != no_order;
  const bool has_streams = array.device.type != DeviceType::cpu;
  const Stream current =
      has_streams && (has_order || wish.copies) ? work_stream(array.device) : Stream(nullptr);
  if (wish.copies) {
    array = without_gil([&] { return copied(array, wish.device, current); });
  }
  array.device = wish.device;
  if (has_order) make_ready(array, current, consumer);
  if (major >= 1) return make_capsule<ManagedTensorVersioned>(std::move(array));
  return make_capsule<ManagedTensor>(std::move(array));
}

void require_dlpack_type(const ExportedArray& array) {
  if (array.type) return;
  const std::string& name = array.type_string;
  throw py::buffer_error(std::string(array.owner) + ": DLPack has no type for elements " +
                         (name.empty() ? "without a dtype; give one" : "of " + name) +
                         (name.starts_with('>') ? ", which are big-endian" : ""));
}

dlpack::Tensor tensor_of(const ExportedArray& array) {
  const StridedLayout& layout = array.layout;
  return {.data = layout.count() == 0 ? nullptr : reinterpret_cast<void*>(array.address),  // NOLINT
          .device = array.device,
          .dimensions = static_cast<std::int32_t>(layout.rank()),
          .type = *array.type,
          .shape = const_cast<std::int64_t*>(layout.shape().data()),
          .strides = const_cast<std::int64_t*>(layout.strides().data()),
          .byte_offset = 0};
}

py::tuple to_tuple(dlpack::Device device) {
  return py::make_tuple(static_cast<int>(device.type), device.ordinal);
}

ManagedTensorVersioned* make_managed_tensor(ExportedArray array) {
  return make_managed<ManagedTensorVersioned>(std::move(array));
}

}  // namespace cudacore::bindings
