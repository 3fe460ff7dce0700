// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "bindings/argument.hpp"
#include "bindings/array_argument.hpp"
#include "bindings/conversions.hpp"

namespace cudacore::bindings {
namespace {

using launching::FastPath;
using launching::KernelBox;
using launching::PackedArguments;
using launching::Slot;
using owner::BufferBox;

/// The value of an int; `overflowed` says in which direction if it does not fit.
long long as_long_long(PyObject* object, int& overflowed) {
#if PY_VERSION_HEX >= 0x030C0000
  const auto* number = reinterpret_cast<const PyLongObject*>(object);
  if (PyUnstable_Long_IsCompact(number) != 0) return PyUnstable_Long_CompactValue(number);
#endif
  return PyLong_AsLongLongAndOverflow(object, &overflowed);
}

bool pack_int(const Slot& slot, PyObject* object, unsigned char* destination) noexcept {
  if (Py_TYPE(object) != &PyLong_Type) return false;
  int overflowed = 0;
  const long long value = as_long_long(object, overflowed);
  if (overflowed != 0 || value < slot.lowest || value > slot.highest) return false;
  std::memcpy(destination, &value, sizeof(value));
  return true;
}

bool pack_float(PyObject* object, unsigned char* destination) noexcept {
  if (Py_TYPE(object) != &PyFloat_Type) return false;
  const double value = PyFloat_AS_DOUBLE(object);
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) return false;
  const auto rounded = static_cast<float>(value);
  std::memcpy(destination, &rounded, sizeof(rounded));
  return true;
}

bool pack_double(PyObject* object, unsigned char* destination) noexcept {
  if (Py_TYPE(object) != &PyFloat_Type) return false;
  const double value = PyFloat_AS_DOUBLE(object);
  std::memcpy(destination, &value, sizeof(value));
  return true;
}

bool pack_address(PyObject* object, int device, unsigned char* destination) noexcept {
  if (Py_TYPE(object) != heap_type<Buffer>) return false;
  const BufferBox* box = get_if<Buffer>(object)->box().get();
  if (box == nullptr || box->is_stale()) return false;
  const int owner = box->device.load(std::memory_order_relaxed);
  if (owner != device && owner != BufferBox::any_device) return false;
  std::memcpy(destination, &box->pointer, sizeof(box->pointer));
  return true;
}

/// Packs what the slot nearly always gets. Runs no Python.
/// @return false for anything else, which pack_argument() packs or refuses.
bool pack_fast(const Slot& slot, PyObject* object, int device,
               unsigned char* destination) noexcept {
  switch (slot.fast_path) {
    case FastPath::integer:
      return pack_int(slot, object, destination);
    case FastPath::float32:
      return pack_float(object, destination);
    case FastPath::float64:
      return pack_double(object, destination);
    case FastPath::pointer:
      return pack_address(object, device, destination) || pack_int(slot, object, destination);
  }
  return false;
}

}  // namespace

void pack_arguments(const KernelBox& kernel, PyObject* const* objects, LaunchArrays& arrays,
                    PackedArguments& packed) {
  const int device = arrays.device();
  const std::span<const Slot> slots = packed.slots();
  void** const places = packed.places();
  bool may_have_run_python = false;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto* place = static_cast<unsigned char*>(places[i]);
    if (!pack_fast(slots[i], objects[i], device, place)) [[unlikely]] {
      may_have_run_python |= pack_argument(kernel, i, slots[i], objects[i], arrays, place);
    }
  }
  // The memory again, when no more Python code runs: an argument's may have closed or moved it.
  for (std::size_t i = 0; may_have_run_python && i < slots.size(); ++i) {
    auto* place = static_cast<unsigned char*>(places[i]);
    if (get_if<Buffer>(objects[i]) != nullptr) {
      pack_argument(kernel, i, slots[i], objects[i], arrays, place);
    } else if (takes_array(slots[i])) {
      static_cast<void>(pack_exchanged_array(kernel, i, slots[i], objects[i], arrays, place));
    }
  }
}

}  // namespace cudacore::bindings
