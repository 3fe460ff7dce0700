// SPDX-License-Identifier: Apache-2.0
#include "bindings/array_argument.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/argument.hpp"
#include "bindings/dlpack_import.hpp"
#include "bindings/errors.hpp"
#include "bindings/pointee.hpp"
#include "bindings/strided_view.hpp"
#include "bindings/view_argument.hpp"
#include "error/describe.hpp"
#include "launch/argument_errors.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::DeviceType;
using launching::KernelBox;
using launching::Slot;

/// An argument's place in a launch, for messages.
struct Place {
  const KernelBox& kernel;
  std::size_t index;
  const Slot& slot;
  PyObject* object;

  [[noreturn]] void refuse(std::string_view why) const { mismatch(kernel, index, object, why); }
  /// Null if the signature is unknown.
  [[nodiscard]] const Param* param() const noexcept {
    return index < kernel.signature.params.size() ? &kernel.signature.params[index] : nullptr;
  }
};

/// Runs `body`, and names the argument in what it throws.
template <typename Body>
auto naming(const Place& place, const Body& body) {
  try {
    return body();
  } catch (const ForeignArrayError& error) {
    place.refuse(error.what());
  } catch (py::error_already_set& raised) {
    if (!raised.matches(PyExc_Exception) || raised.matches(PyExc_MemoryError)) throw;
    const std::string message = mismatch_message(place.kernel, place.index, given(place.object)) +
                                ": it raised " + exception_text(raised);
    py::raise_from(raised, PyExc_TypeError, message.c_str());
    throw py::error_already_set();
  }
}

bool reads_pageable_memory(int device) {
  int reads = 0;
  const CUresult result = driver::api().cuDeviceGetAttribute(
      &reads, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
  return result == CUDA_SUCCESS && reads != 0;
}

/// Where the memory is; asks the driver about what the array calls memory of the host.
dlpack::Device place_of(const ForeignArray& array) {
  const dlpack::Device said = array.tensor.device;
  const bool is_known = said.type != DeviceType::cpu || array.count == 0;
  return is_known ? said : locate(reinterpret_cast<std::uint64_t>(array.tensor.data));
}

void require_device(const Place& place, const ForeignArray& array, int device) {
  const dlpack::Device where = place_of(array);
  switch (where.type) {
    case DeviceType::cuda:
      if (where.ordinal == device) return;
      place.refuse("its memory is on device " + std::to_string(where.ordinal) +
                   ", and the launch is on device " + std::to_string(device) + "; copy it there");
    case DeviceType::cuda_managed:
    case DeviceType::cuda_host:
      return;
    case DeviceType::cpu:
      if (array.count == 0 || reads_pageable_memory(device)) return;
      place.refuse(place.slot.kind == ParamKind::pointer || place.slot.view != 0
                       ? host_advice
                       : "it is an array on the host; for a pointer, pass "
                         "device.to_device(array), for a number, array.item()");
  }
  place.refuse(unknown_device(where.type));
}

[[noreturn]] void refuse_elements(const Place& place, const Param& param,
                                  const ForeignArray& array) {
  place.refuse("its elements are " + type_text(array.tensor.type) + ", not " +
               std::string(pointee_text(param)) +
               "; convert it, or view it as an array of the right type");
}

[[noreturn]] void refuse_part_of_vector(const Place& place, const Param& param,
                                        const ForeignArray& array) {
  place.refuse("its " + std::to_string(array.count * array.item_size) + " bytes are not a whole " +
               "number of " + std::string(pointee_text(param)));
}

/// A kernel that loads from an address that isn't aligned takes the whole context down.
void require_alignment(const Place& place, const Param& param, std::uint64_t address) {
  const std::size_t alignment = pointee_alignment(param);
  if (address % alignment == 0) return;
  place.refuse("its memory begins at " + error::format_address(address) + ", but " +
               std::string(pointee_text(param)) + " must be aligned to " +
               std::to_string(alignment) + " bytes; pass a copy");
}

/// Refuses a kernel that may write to an array that is read-only.
void require_const(const Place& place, const Param& param) {
  const bool may_write = param.kind == ParamKind::pointer && !param.pointee_const &&
                         param.pointee != ParamKind::opaque;
  if (may_write) place.refuse("it is read-only, and the kernel may write what is not const");
}

void require_pointee(const Place& place, const Param& param, const ForeignArray& array) {
  if (param.kind != ParamKind::pointer) return;  // bytes that may be an address
  if (!takes_elements(param, array.tensor.type)) [[unlikely]] {
    if (place.slot.view != 0) refuse_elements(place, param, array);
    if (!takes_as_vectors(param, array.tensor.type, array.count * array.item_size)) {
      if (takes_as_vectors(param, array.tensor.type, 0)) refuse_part_of_vector(place, param, array);
      refuse_elements(place, param, array);
    }
  }
  const auto address = reinterpret_cast<std::uint64_t>(array.tensor.data);
  if (address % largest_pointee_alignment != 0 && array.count != 0) [[unlikely]] {
    require_alignment(place, param, address);
  }
  if (array.read_only) require_const(place, param);
}

void require_order(const Place& place, const ForeignArray& array) {
  if (array.is_c_contiguous) [[likely]]
    return;
  place.refuse(
      "it is not C-contiguous, and a pointer has no strides; pass a contiguous copy "
      "(tensor.contiguous() in PyTorch, ascontiguousarray(array) in NumPy and CuPy), or let the "
      "kernel take a cudacore::array_view");
}

void pack_as_view(const Place& place, ForeignArray& array, LaunchArrays& arrays,
                  unsigned char* destination) {
  const signature::ViewLayout& layout = place.kernel.plan.views[place.slot.view - 1U];
  require_device(place, array, arrays.device());
  require_pointee(place, layout.pointer, array);
  pack_view(layout, array, destination);
  arrays.add(array);
}

void pack_checked(const Place& place, ForeignArray& array, LaunchArrays& arrays,
                  unsigned char* destination) {
  if (place.slot.view != 0) {
    pack_as_view(place, array, arrays, destination);
    return;
  }
  require_device(place, array, arrays.device());
  if (const Param* param = place.param()) require_pointee(place, *param, array);
  require_order(place, array);
  const auto address = reinterpret_cast<std::uint64_t>(array.tensor.data);
  std::memcpy(destination, &address, sizeof(address));
  arrays.add(array);
}

void require_usable_view(const Place& place) {
  const auto* view = get_if<StridedView>(place.object);
  if (view == nullptr) return;
  if (is_closed(*view)) [[unlikely]] {
    throw std::invalid_argument(
        mismatch_message(place.kernel, place.index, "a view of a closed Buffer"));
  }
  if (view->is_read_only) [[unlikely]] {
    const Param* pointer = place.slot.view != 0
                               ? &place.kernel.plan.views[place.slot.view - 1U].pointer
                               : place.param();
    if (pointer != nullptr) require_const(place, *pointer);
  }
}

/// Whether a tensor is just what a pointer takes, as far as one can see without looking twice: what
/// PyTorch may conjugate or negate lazily is not.
bool fits_plainly(const dlpack::Tensor& tensor, const Param& param) noexcept {
  std::uint64_t size = tensor.type.bits / 8U;
  bool fits = tensor.type.lanes == 1 && tensor.type.code != dlpack::TypeCode::complex &&
              tensor.type.bits % 8U == 0 && tensor.byte_offset == 0 && tensor.data != nullptr &&
              reinterpret_cast<std::uint64_t>(tensor.data) % largest_pointee_alignment == 0 &&
              tensor.shape != nullptr && tensor.dimensions <= ForeignArray::most_dimensions;
  std::int64_t count = 1;
  for (int i = tensor.dimensions - 1; fits && i >= 0; --i) {
    const std::int64_t extent = tensor.shape[i];
    fits = extent > 0 && (tensor.strides == nullptr || extent == 1 || tensor.strides[i] == count) &&
           !__builtin_mul_overflow(count, extent, &count);
  }
  std::uint64_t end = 0;
  return fits && count > 1 &&
         !__builtin_mul_overflow(size, static_cast<std::uint64_t>(count), &size) &&
         !__builtin_add_overflow(reinterpret_cast<std::uint64_t>(tensor.data), size, &end) &&
         takes_elements(param, tensor.type);
}

const std::array<PyObject*, 4>& protocol_names() {
  static const std::array<PyObject*, 4> names = {
      interned("__dlpack_c_exchange_api__"), interned("__cuda_array_interface__"),
      interned("__array_interface__"), interned("__dlpack__")};
  return names;
}

}  // namespace

bool pack_known_array(const KernelBox& kernel, std::size_t index, const Slot& slot,
                      PyObject* object, LaunchArrays& arrays, unsigned char* destination) {
  const std::vector<Param>& params = kernel.signature.params;
  if (slot.kind != ParamKind::pointer || index >= params.size()) return false;
  const dlpack::ExchangeApi* api = known_borrowing_api(Py_TYPE(object)).api;
  if (api == nullptr) return false;
  dlpack::Tensor tensor;  // NOLINT: filled by the library
  if (api->borrow_from_object(object, &tensor) != 0) [[unlikely]] {
    PyErr_Clear();
    return false;
  }
  const dlpack::Device here = {DeviceType::cuda, arrays.device()};
  if (tensor.device != here || !fits_plainly(tensor, params[index])) return false;
  naming(Place{kernel, index, slot, object}, [&] { arrays.add(*api, here); });
  std::memcpy(destination, &tensor.data, sizeof(tensor.data));
  return true;
}

bool pack_exchanged_array(const KernelBox& kernel, std::size_t index, const Slot& slot,
                          PyObject* object, LaunchArrays& arrays, unsigned char* destination,
                          bool& may_have_run_python) {
  const Place place{kernel, index, slot, object};
  return naming(place, [&] {
    const ExchangeLookup found = find_exchange_api(object);
    may_have_run_python |= found.may_have_run_python;
    if (found.api == nullptr) return false;
    require_usable_view(place);
    ForeignArray array;
    may_have_run_python |= read_checked_by(*found.api, object, Sharing::borrow, array);
    pack_checked(place, array, arrays, destination);
    return true;
  });
}

const dlpack::ExchangeApi* borrowing_api(const KernelBox& kernel, std::size_t index,
                                         const Slot& slot, PyObject* object) {
  const dlpack::ExchangeApi* api =
      naming(Place{kernel, index, slot, object}, [&] { return find_exchange_api(object).api; });
  return api != nullptr && can_borrow(*api) ? api : nullptr;
}

void pack_borrowed_array(const KernelBox& kernel, std::size_t index, const Slot& slot,
                         PyObject* object, const dlpack::ExchangeApi& api, LaunchArrays& arrays,
                         unsigned char* destination) {
  const Place place{kernel, index, slot, object};
  naming(place, [&] {
    require_usable_view(place);
    ForeignArray array;
    read_by(api, object, Sharing::borrow, array);
    pack_checked(place, array, arrays, destination);
  });
}

bool pack_array(const KernelBox& kernel, std::size_t index, const Slot& slot, PyObject* object,
                LaunchArrays& arrays, unsigned char* destination) {
  const Place place{kernel, index, slot, object};
  return naming(place, [&] {
    ForeignArray array;
    if (!read_foreign_array(object, arrays.stream(), Sharing::borrow, array)) return false;
    pack_checked(place, array, arrays, destination);
    return true;
  });
}

bool has_array_type(PyObject* object) {
  const auto& names = protocol_names();
  return std::any_of(names.begin(), names.end(), [&](PyObject* name) {
    return _PyType_Lookup(Py_TYPE(object), name) != nullptr;  // asks no metaclass
  });
}

bool is_array(PyObject* object) {
  const auto& names = protocol_names();
  return std::any_of(names.begin(), names.end(), [&](PyObject* name) {
    const py::object value = optional_attribute(object, name);
    return value && !value.is_none();
  });
}

}  // namespace cudacore::bindings
