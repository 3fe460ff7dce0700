// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <span>
#include <vector>

#include "bindings/argument.hpp"
#include "bindings/array_argument.hpp"
#include "bindings/conversions.hpp"
#include "bindings/integers.hpp"
#include "bindings/texture_argument.hpp"

namespace cudacore::bindings {
namespace {

using launching::FastPath;
using launching::KernelBox;
using launching::PackedArguments;
using launching::Slot;
using owner::BufferBox;

bool pack_int(const Slot& slot, PyObject* object, unsigned char* destination) noexcept {
  if (Py_TYPE(object) != &PyLong_Type) return false;
  int overflowed = 0;
  const long long value = as_long_long(object, overflowed);
  return overflowed == 0 && launching::pack_within_range(slot, value, destination);
}

bool pack_float(PyObject* object, unsigned char* destination) noexcept {
  if (Py_TYPE(object) != &PyFloat_Type) return false;
  return launching::pack_float32(PyFloat_AS_DOUBLE(object), destination) ==
         launching::PackResult::ok;
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

bool pack_none(PyObject* object, unsigned char* destination) noexcept {
  if (object != Py_None) return false;
  constexpr std::uint64_t null = 0;
  std::memcpy(destination, &null, sizeof(null));
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
      return pack_address(object, device, destination) || pack_int(slot, object, destination) ||
             pack_none(object, destination);
  }
  return false;
}

/// Packs the memory again after Python code has run, which may have closed or moved it: first finds
/// out how, which may run more of it; then packs, which runs none. The Buffers are last, in case
/// that a library runs some all the same. Arrays that were shared keep their memory.
void pack_memory_again(const KernelBox& kernel, PyObject* const* objects, LaunchArrays& arrays,
                       PackedArguments& packed) {
  const std::span<const Slot> slots = packed.slots();
  const auto place = [&](std::size_t i) { return static_cast<unsigned char*>(packed.places()[i]); };
  std::vector<const dlpack::ExchangeApi*> apis(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (takes_array(slots[i]) && get_if<Buffer>(objects[i]) == nullptr) {
      apis[i] = borrowing_api(kernel, i, slots[i], objects[i]);
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (apis[i] != nullptr) {
      pack_borrowed_array(kernel, i, slots[i], objects[i], *apis[i], arrays, place(i));
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (get_if<Buffer>(objects[i]) != nullptr || is_texture_argument(objects[i])) {
      static_cast<void>(pack_argument(kernel, i, slots[i], objects[i], arrays, place(i)));
    }
  }
}

}  // namespace

void pack_arguments(const KernelBox& kernel, PyObject* const* objects, LaunchArrays& arrays,
                    PackedArguments& packed) {
  const int device = arrays.device();
  const std::span<const Slot> slots = packed.slots();
  void** const places = packed.places();
  bool may_have_run_python = false;
  std::vector<std::size_t> others;
  const auto pack_plain = [&](std::size_t i) {
    auto* place = static_cast<unsigned char*>(places[i]);
    return pack_fast(slots[i], objects[i], device, place) ||
           pack_known_array(kernel, i, slots[i], objects[i], arrays, place);
  };
  const auto pack = [&](std::size_t i) {
    auto* place = static_cast<unsigned char*>(places[i]);
    may_have_run_python |= pack_argument(kernel, i, slots[i], objects[i], arrays, place);
  };
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (pack_plain(i)) [[likely]]
      continue;
    if (takes_array(slots[i])) {
      others.push_back(i);
    } else {
      pack(i);
    }
  }
  // Arrays last: the Python code of a number must not free what an array has shown before. Those
  // that were packed already are packed again then.
  for (const bool packs_arrays : {false, true}) {
    for (const std::size_t i : others) {
      if (has_array_type(objects[i]) == packs_arrays) pack(i);
    }
  }
  if (may_have_run_python) [[unlikely]] {
    pack_memory_again(kernel, objects, arrays, packed);
  }
}

}  // namespace cudacore::bindings
