// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cudacore::bindings {

/// What was learnt about the Python types seen last, by address: one load and one compare for the
/// types that a program really uses. Each is kept alive, so that no other type gets its address.
/// An entry has its type as its member `type`. Guarded by the GIL.
template <typename Entry>
class TypeCache {
 public:
  /// The entry of a type that was learnt; null if it has to be found. Runs no Python code.
  const Entry* peek(PyTypeObject* type) const noexcept {
    const Entry& entry = recent_[place_of(type)];
    return entry.type == type ? &entry : nullptr;
  }

  /// The entry of a type; the first time, what `learn()` returns. That may run Python code.
  template <typename Learn>
  Entry find(PyTypeObject* type, const Learn& learn) {
    Entry& entry = recent_[place_of(type)];
    if (entry.type == type) [[likely]] {
      return entry;
    }
    auto held = pybind11::reinterpret_borrow<pybind11::object>(reinterpret_cast<PyObject*>(type));
    const Entry learnt = learn();
    const Entry forgotten = std::exchange(entry, learnt);
    held.release();                                           // owned by the entry now
    Py_XDECREF(reinterpret_cast<PyObject*>(forgotten.type));  // last, since it may run Python code
    return learnt;
  }

 private:
  static constexpr std::size_t size = 64;

  static std::size_t place_of(const PyTypeObject* type) noexcept {
    return (reinterpret_cast<std::uintptr_t>(type) >> 5U) % size;
  }

  std::array<Entry, size> recent_{};
};

}  // namespace cudacore::bindings
