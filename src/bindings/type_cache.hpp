// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cudacore::bindings {

/// What was learnt about the Python types seen last, by address: one load and one compare for the
/// types that a program really uses. An entry ends with its type, before another type can get that
/// address; it has the type as its member `type`. Caches are never destroyed. Guarded by the GIL.
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
    const std::size_t place = place_of(type);
    if (recent_[place].type == type) [[likely]] {
      return recent_[place];
    }
    auto watch = watcher_of(type);
    const Entry learnt = learn();
    recent_[place] = learnt;
    Py_XDECREF(std::exchange(watchers_[place], watch.release().ptr()));
    return learnt;
  }

 private:
  static constexpr std::size_t size = 64;

  static std::size_t place_of(const PyTypeObject* type) noexcept {
    return (reinterpret_cast<std::uintptr_t>(type) >> 5U) % size;
  }

  /// A weak reference, which forgets its type's entry when the type ends.
  pybind11::object watcher_of(PyTypeObject* type) {
    static PyMethodDef definition = {"forget", &forget, METH_O, nullptr};
    const auto self = pybind11::capsule(this);
    const auto callback =
        pybind11::reinterpret_steal<pybind11::object>(PyCFunction_New(&definition, self.ptr()));
    auto watcher = pybind11::reinterpret_steal<pybind11::object>(
        callback ? PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), callback.ptr()) : nullptr);
    if (!watcher) throw pybind11::error_already_set();
    return watcher;
  }

  static PyObject* forget(PyObject* self, PyObject* watcher) {
    auto* const cache = static_cast<TypeCache*>(PyCapsule_GetPointer(self, nullptr));
    if (cache == nullptr) return nullptr;
    for (std::size_t place = 0; place < size; ++place) {
      if (cache->watchers_[place] == watcher) {
        cache->recent_[place] = Entry{};
        Py_CLEAR(cache->watchers_[place]);  // last: it may run Python code
      }
    }
    Py_RETURN_NONE;
  }

  std::array<Entry, size> recent_{};
  std::array<PyObject*, size> watchers_{};  // weak references
};

}  // namespace cudacore::bindings
