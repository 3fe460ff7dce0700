// SPDX-License-Identifier: Apache-2.0
#include "bindings/argument.hpp"

#include <cstring>

#include "bindings/array_argument.hpp"
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/host_buffer.hpp"
#include "bindings/kept_arguments.hpp"
#include "bindings/recorder.hpp"
#include "bindings/scalar_type.hpp"
#include "bindings/tensor_map_object.hpp"
#include "bindings/texture_argument.hpp"
#include "error/check.hpp"
#include "launch/argument_errors.hpp"
#include "launch/kernel_box.hpp"
#include "launch/packing.hpp"

namespace cudacore::bindings {
namespace {

using launching::KernelBox;
using launching::PackResult;
using launching::Slot;
using owner::BufferBox;

[[noreturn]] void overflow(const KernelBox& kernel, std::size_t index, PyObject* object) {
  throw std::overflow_error(overflow_message(kernel, index, shown(object)));
}

/// The Python type of number that becomes a parameter of this kind; empty if none does.
std::string_view number_for(ParamKind kind) {
  switch (kind) {
    case ParamKind::float16:
    case ParamKind::bfloat16:
    case ParamKind::float32:
    case ParamKind::float64:
      return "float";
    case ParamKind::integer:
    case ParamKind::sint:
    case ParamKind::uint:
      return "int";
    case ParamKind::boolean:
      return "bool";
    default:
      return {};
  }
}

/// Advice on a Python number for a parameter that takes another type of number.
std::string number_advice(const KernelBox& kernel, std::size_t index, PyObject* object) {
  const bool is_number = PyLong_CheckExact(object) != 0 || PyFloat_CheckExact(object) != 0 ||
                         PyBool_Check(object) != 0;
  const std::string_view wanted = index < kernel.plan.slots.size()
                                      ? number_for(kernel.plan.slots[index].kind)
                                      : std::string_view();
  if (!is_number || wanted.empty() || wanted == type_name(object)) return {};
  return "pass " + std::string(wanted) + "(...) of it";
}

void throw_unless_packed(PackResult result, const KernelBox& kernel, std::size_t index,
                         PyObject* object) {
  if (result == PackResult::mismatch) [[unlikely]] {
    mismatch(kernel, index, object, number_advice(kernel, index, object));
  }
  if (result == PackResult::overflow) [[unlikely]] {
    overflow(kernel, index, object);
  }
}

void pack_long(const KernelBox& kernel, std::size_t index, const Slot& slot, PyObject* object,
               unsigned char* destination) {
  int overflowed = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflowed);
  PackResult result = PackResult::overflow;
  if (overflowed == 0) {
    result =
        launching::pack_integer(slot, static_cast<std::uint64_t>(value), value < 0, destination);
  } else if (overflowed > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
    } else {
      result = launching::pack_integer(slot, large, false, destination);
    }
  }
  const bool is_real = slot.kind == ParamKind::float64 || slot.kind == ParamKind::float32;
  if (result == PackResult::overflow && overflowed != 0 && is_real) {
    const double rounded = PyLong_AsDouble(object);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
    } else {
      result = launching::pack_real(slot, rounded, destination);
    }
  }
  throw_unless_packed(result, kernel, index, object);
}

/// The device that a buffer's memory belongs to, as BufferBox::device has it.
int ask_device(const BufferBox& box) {
  int device = BufferBox::any_device;
  if (box.resource != nullptr) {
    if (!box.resource->is_device_accessible()) {
      device = BufferBox::host_only;
    } else if (!box.resource->is_host_accessible() && !box.resource->is_managed()) {
      device = box.resource->device_id();
    }
  }
  return device;
}

/// Asks a share of the buffer: a resource may be written in Python, and may close the buffer.
int ask_and_note_device(const Buffer& buffer) {
  const Buffer kept = buffer;
  const int device = ask_device(*kept.box());
  kept.box()->device.store(device, std::memory_order_relaxed);
  return device;
}

/// Whether kernels on a device may access memory of another one.
bool may_access(const Buffer& buffer, int device) {
  const std::shared_ptr<MemoryResource> resource = buffer.box()->resource;
  if (resource == nullptr) return false;
  return without_gil([&resource, pointer = buffer.box()->pointer, device] {
    return resource->is_accessible_by_peer(pointer, device);
  });
}

constexpr char untyped_advice[] =
    "a Buffer has no element type and no shape; pass buffer.view(dtype, shape)";

bool pack_buffer(const KernelBox& kernel, std::size_t index, const Slot& slot, const Buffer& buffer,
                 PyObject* object, int device, unsigned char* destination) {
  const BufferBox* box = buffer.box().get();
  if (box == nullptr) [[unlikely]] {
    throw std::invalid_argument(mismatch_message(kernel, index, "a closed Buffer"));
  }
  int owner = box->device.load(std::memory_order_relaxed);
  bool may_have_run_python = false;
  if (owner == BufferBox::not_asked) [[unlikely]] {
    owner = ask_and_note_device(buffer);
    may_have_run_python = true;
  }
  if (owner != device && owner != BufferBox::any_device) [[unlikely]] {
    if (owner == BufferBox::host_only) {
      mismatch(kernel, index, object, "its memory lives on the host, where no kernel reaches it");
    }
    if (box = buffer.box().get(); box != nullptr && may_access(buffer, device)) {
      owner = device;
      may_have_run_python = true;  // of other threads, while the driver was asked
    }
  }
  if (may_have_run_python) [[unlikely]] {
    box = buffer.box().get();
    if (box == nullptr) {
      throw std::invalid_argument(mismatch_message(kernel, index, "a closed Buffer"));
    }
  }
  if (owner != device && owner != BufferBox::any_device) [[unlikely]] {
    mismatch(kernel, index, object,
             "its memory is on device " + std::to_string(owner) + ", and the launch is on device " +
                 std::to_string(device) +
                 "; copy it there with Buffer.copy_to, or give that device access to the pool: "
                 "DeviceMemoryResource.peer_accessible_by");
  }
  if (box->is_stale()) [[unlikely]] {
    error::throw_stale(mismatch_message(kernel, index, "a Buffer"));
  }
  if (slot.view != 0) mismatch(kernel, index, object, untyped_advice);
  throw_unless_packed(launching::pack_pointer(slot, box->pointer, destination), kernel, index,
                      object);
  return may_have_run_python;
}

void pack_bytes_of(const KernelBox& kernel, std::size_t index, const Slot& slot, PyObject* object,
                   unsigned char* destination) {
  if (slot.kind == ParamKind::pointer) mismatch(kernel, index, object, host_advice);
  const HostBuffer host(object, false, "a struct argument");
  const auto bytes = host.bytes();
  if (launching::pack_bytes(slot, bytes.data(), bytes.size(), destination) != PackResult::ok) {
    mismatch(kernel, index, object,
             "it has " + std::to_string(bytes.size()) + " bytes, the parameter " +
                 std::to_string(slot.size));
  }
}

void pack_tensor_map(const KernelBox& kernel, std::size_t index, const Slot& slot,
                     const TensorMapObject& map, PyObject* object, LaunchArrays& arrays,
                     unsigned char* destination) {
  const int device = arrays.device();
  if (is_closed(map.view)) {
    throw std::invalid_argument(
        mismatch_message(kernel, index, "a TensorMapDescriptor whose Buffer is closed"));
  }
  require_open(map.view);
  const Recorder* recorder = Recorder::active();
  if (recorder != nullptr && recorder->is_stand_in_address(map.view.address)) {
    throw NotSupportedError(
        mismatch_message(kernel, index, "a TensorMapDescriptor of an argument") +
        " that is recorded, because the address in it cannot be replaced; make the descriptor "
        "outside, and pass that");
  }
  if (const int owner = map.map->context().device().id(); owner != device) {
    mismatch(kernel, index, object,
             "it is for device " + std::to_string(owner) + ", and the launch is on device " +
                 std::to_string(device));
  }
  using Bytes = TensorMapDescriptor::Bytes;
  const std::vector<Param>& params = kernel.signature.params;
  const std::size_t align = index < params.size() ? params[index].align : 0;
  const bool fits =
      (align == 0 || align >= alignof(Bytes)) &&
      launching::pack_bytes(slot, &map.map->bytes(), sizeof(Bytes), destination) == PackResult::ok;
  if (!fits) {
    mismatch(kernel, index, object,
             "declare the parameter as `const __grid_constant__ CUtensorMap`, or as a struct of "
             "128 bytes aligned to 64");
  }
  Shares shares;
  keep_argument(object, shares);
  for (std::shared_ptr<void>& share : shares) arrays.keep(std::move(share));
}

/// Advice on a typed scalar for a parameter of another type.
std::string conversion_advice(const Slot& slot) {
  const std::string_view wanted = number_for(slot.kind);
  if (wanted.empty()) return {};
  return "a scalar of NumPy or ctypes has a type of its own, which is never changed silently; "
         "pass " +
         std::string(wanted) +
         "(...) of it, and a plain Python number becomes what the kernel declares";
}

/// A NumPy, ml_dtypes or ctypes value.
void pack_scalar(const KernelBox& kernel, std::size_t index, const Slot& slot,
                 const ScalarType& scalar, PyObject* object, unsigned char* destination) {
  PackResult result = PackResult::mismatch;
  if (scalar.access == ScalarType::Access::at_offset) {
    result =
        launching::pack_exact(slot, scalar.kind, scalar.size, scalar_bytes(object), destination);
  } else if (scalar.access == ScalarType::Access::as_float) {
    const py::object number = checked(PyNumber_Float(object));
    const std::uint16_t bits = launching::to_bfloat16(PyFloat_AS_DOUBLE(number.ptr()));
    result = launching::pack_exact(slot, scalar.kind, scalar.size, &bits, destination);
  } else if (scalar.kind == ParamKind::structure) {
    pack_bytes_of(kernel, index, slot, object, destination);
    return;
  } else {
    const HostBuffer host(object, false, "a scalar argument");
    const std::size_t size = host.bytes().size();
    if (size != scalar.size) [[unlikely]] {
      mismatch(kernel, index, object,
               "it shows " + std::to_string(size) + (size == 1 ? " byte" : " bytes") +
                   ", but its type has " + std::to_string(scalar.size));
    }
    const void* bytes = host.bytes().data();
    if (scalar.kind == ParamKind::pointer) {
      std::uint64_t address = 0;
      std::memcpy(&address, bytes, sizeof(address));
      result = launching::pack_pointer(slot, address, destination);
    } else {
      result = launching::pack_exact(slot, scalar.kind, scalar.size, bytes, destination);
    }
  }
  if (result == PackResult::mismatch) [[unlikely]] {
    mismatch(kernel, index, object,
             number_for(scalar.kind).empty() ? std::string() : conversion_advice(slot));
  }
  throw_unless_packed(result, kernel, index, object);
}

/// Whether an array has no dimensions: some functions of NumPy return structured elements only
/// in this form.
bool is_zero_dimensional(PyObject* object) {
  const py::object shape = py::getattr(py::handle(object), "shape", py::none());
  return PyTuple_Check(shape.ptr()) != 0 && PyTuple_GET_SIZE(shape.ptr()) == 0;
}

/// Whether the object's class or a base of it is called `name`.
bool is_of(PyObject* object, std::string_view name) {
  PyObject* bases = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t i = 0; bases != nullptr && i < PyTuple_GET_SIZE(bases); ++i) {
    if (name == reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i))->tp_name) return true;
  }
  return false;
}

/// Refuses an array for a parameter that takes none.
[[noreturn]] void refuse_array(const KernelBox& kernel, std::size_t index, PyObject* object) {
  const std::vector<Param>& params = kernel.signature.params;
  if (index < params.size() && signature::is_view(params[index])) {
    throw NotSupportedError(
        mismatch_message(kernel, index, given(object)) +
        ": arrays become a cudacore::array_view, or a cuda::std::mdspan with a standard layout "
        "and default_accessor, of the size that these have in the CCCL that cudacore knows");
  }
  using Map = TensorMapDescriptor::Bytes;
  const bool is_tensor_map = index < params.size() && params[index].size == sizeof(Map) &&
                             (params[index].align == 0 || params[index].align >= alignof(Map));
  mismatch(kernel, index, object,
           is_tensor_map ? "a tensor map is made by view.as_tensor_map(box)" : element_advice);
}

/// Everything without a fast path: arrays, bytes, subclasses of numbers, other libraries' handles.
void pack_other(const KernelBox& kernel, std::size_t index, const Slot& slot, PyObject* object,
                LaunchArrays& arrays, unsigned char* destination) {
  if (get_if<PyDevice>(object) != nullptr) {
    mismatch(kernel, index, object,
             "pass a Buffer for a pointer, or device.device_id for the device's number");
  }
  if (PyType_Check(object) != 0) mismatch(kernel, index, object, "pass an object of it");
  if (PyLong_Check(object) != 0) {
    pack_long(kernel, index, slot, object, destination);
    return;
  }
  if (PyFloat_Check(object) != 0) {
    throw_unless_packed(launching::pack_real(slot, PyFloat_AS_DOUBLE(object), destination), kernel,
                        index, object);
    return;
  }
  const bool is_scalar = is_of(object, "numpy.generic");  // of a type that no parameter has
  if (!is_scalar && takes_array(slot) &&
      pack_array(kernel, index, slot, object, arrays, destination)) {
    return;
  }
  const bool is_other_array = is_array(object);
  if (is_other_array && slot.kind == ParamKind::structure && is_zero_dimensional(object)) {
    pack_bytes_of(kernel, index, slot, object, destination);
    return;
  }
  if (is_other_array && is_scalar) {
    const bool is_real = is_of(object, "numpy.number") && !is_of(object, "numpy.complexfloating");
    mismatch(kernel, index, object, is_real ? conversion_advice(slot) : std::string());
  }
  if (is_other_array) refuse_array(kernel, index, object);
  if (PyObject_CheckBuffer(object) != 0) {
    pack_bytes_of(kernel, index, slot, object, destination);
    return;
  }
  const bool is_address = slot.kind == ParamKind::pointer && PyUnicode_Check(object) == 0 &&
                          Py_TYPE(object)->tp_as_number != nullptr &&
                          Py_TYPE(object)->tp_as_number->nb_int != nullptr &&
                          Py_TYPE(object)->tp_as_number->nb_float == nullptr;
  const bool takes_handle = slot.kind == ParamKind::uint || slot.kind == ParamKind::integer;
  if (get_if<GraphCondition>(object) != nullptr &&
      (!takes_handle || slot.size != sizeof(CUgraphConditionalHandle))) {
    mismatch(kernel, index, object, "declare the parameter as cudaGraphConditionalHandle");
  }
  if (PyIndex_Check(object) != 0 || is_address) {
    const py::object number =
        checked(PyIndex_Check(object) != 0 ? PyNumber_Index(object) : PyNumber_Long(object));
    pack_long(kernel, index, slot, number.ptr(), destination);
    return;
  }
  const bool is_pointer = slot.kind == ParamKind::pointer;
  mismatch(kernel, index, object,
           is_pointer ? "pass a Buffer, an array, None, or an int that is an address" : "");
}

}  // namespace

std::string given(PyObject* object) {
  if (object == Py_None) return "None";
  if (PyType_Check(object) != 0) {
    return std::string("the class ") + reinterpret_cast<PyTypeObject*>(object)->tp_name;
  }
  const std::string name = type_name(object);
  if (PyLong_CheckExact(object) != 0 || PyFloat_CheckExact(object) != 0 ||
      PyBool_Check(object) != 0 || PyComplex_CheckExact(object) != 0) {
    return "a Python " + name;
  }
  return type_with_article(object);
}

void mismatch(const KernelBox& kernel, std::size_t index, PyObject* object,
              std::string_view advice) {
  std::string message = mismatch_message(kernel, index, given(object));
  if (!advice.empty()) message.append(": ").append(advice);
  throw TypeMismatchError(message);
}

bool pack_argument(const KernelBox& kernel, std::size_t index, const Slot& slot, PyObject* object,
                   LaunchArrays& arrays, unsigned char* destination) {
  const int device = arrays.device();
  const PyTypeObject* type = Py_TYPE(object);
  if (type == heap_type<Buffer>) {
    return pack_buffer(kernel, index, slot, *get_if<Buffer>(object), object, device, destination);
  }
  if (type == &PyLong_Type) {
    pack_long(kernel, index, slot, object, destination);
  } else if (type == &PyFloat_Type) {
    throw_unless_packed(launching::pack_real(slot, PyFloat_AS_DOUBLE(object), destination), kernel,
                        index, object);
  } else if (type == &PyBool_Type) {
    throw_unless_packed(launching::pack_boolean(slot, object == Py_True, destination), kernel,
                        index, object);
  } else if (object == Py_None) {
    throw_unless_packed(slot.kind == ParamKind::pointer
                            ? launching::pack_pointer(slot, 0, destination)
                            : PackResult::mismatch,
                        kernel, index, object);
  } else if (type == &PyComplex_Type) {
    const Py_complex value = PyComplex_AsCComplex(object);
    throw_unless_packed(launching::pack_complex(slot, value.real, value.imag, destination), kernel,
                        index, object);
  } else {
    if (PyObject* number = number_behind(object)) {
      arrays.add_number({index, object});
      return pack_argument(kernel, index, slot, number, arrays, destination);
    }
    if (const Buffer* derived = get_if<Buffer>(object)) {
      const bool may_have_run_python =
          pack_buffer(kernel, index, slot, *derived, object, device, destination);
      arrays.keep(derived->box());
      return may_have_run_python;
    }
    if (const auto* map = get_if<TensorMapObject>(object)) {
      pack_tensor_map(kernel, index, slot, *map, object, arrays, destination);
      return false;
    }
    if (pack_texture_argument(kernel, index, slot, object, arrays, destination)) return false;
    bool may_have_run_python = false;
    if (takes_array(slot) && pack_exchanged_array(kernel, index, slot, object, arrays, destination,
                                                  may_have_run_python)) {
      return may_have_run_python;
    }
    const ScalarType scalar = scalar_type(object);
    if (scalar.access != ScalarType::Access::none) {
      pack_scalar(kernel, index, slot, scalar, object, destination);
    } else {
      pack_other(kernel, index, slot, object, arrays, destination);
    }
    return true;
  }
  return false;
}

Param exact_param(const KernelBox& kernel, std::size_t index, PyObject* object) {
  if (PyObject* number = number_behind(object)) object = number;
  if (get_if<Buffer>(object) != nullptr || object == Py_None) {
    return launching::make_param(ParamKind::pointer, sizeof(std::uint64_t));
  }
  if (get_if<TensorMapObject>(object) != nullptr) {
    return launching::make_param(ParamKind::structure, sizeof(TensorMapDescriptor::Bytes));
  }
  if (is_texture_argument(object)) {
    return launching::make_param(ParamKind::uint, sizeof(CUtexObject));
  }
  const ScalarType scalar = scalar_type(object);
  if (scalar.access == ScalarType::Access::none) {
    if (is_array(object)) return launching::make_param(ParamKind::pointer, sizeof(std::uint64_t));
    throw TypeMismatchError(unknown_signature_message(kernel, index, given(object)));
  }
  if (scalar.kind == ParamKind::structure) {
    const HostBuffer host(object, false, "a struct argument");
    return launching::make_param(scalar.kind, host.bytes().size());
  }
  return launching::make_param(scalar.kind, scalar.size);
}

}  // namespace cudacore::bindings
