// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "bindings/heap_type.hpp"

// Python's garbage collector, and the Python objects that boxes keep alive (keep_alive()).
//
// The rule: an object visits what its value alone keeps, through boxes that no one else shares
// (use_count() is 1). For whatever is shared, the collector sees a reference from outside, and
// collects nothing too early. Its passes must agree: what the first one visits is visited by the
// later ones too. They do, since the first share more of a box that an object alone owns is only
// made with the GIL, which the collector holds. Code without the GIL works on shares of its own,
// made before it released the GIL, or on a Borrowed, of which no share is made. Shares may end at
// any time.
//
// Nothing is cleared (tp_clear): an object without its value would break code that still sees it.
// A cycle has a mutable Python object in it, whose clearing ends the cycle. A Buffer gives its
// memory back before that, while the resource it goes to is whole (tp_finalize).

namespace cudacore::bindings {

/// Releases what keep_alive() made. It holds the object itself, for shares that are aliases.
struct ReleaseObject {
  PyObject* object;

  void operator()(void* pointer) const noexcept;
};

/// The Python object behind a share that keep_alive() made, or an alias of one; null for others.
template <typename T>
[[nodiscard]] PyObject* kept_by(const std::shared_ptr<T>& owner) noexcept {
  const auto* release = std::get_deleter<ReleaseObject>(owner);
  return release != nullptr ? release->object : nullptr;
}

/// A template, since converting the shared_ptr would add a share.
template <typename T>
[[nodiscard]] int visit_kept(const std::shared_ptr<T>& owner, visitproc visit, void* arg) {
  if (owner.use_count() == 1) Py_VISIT(kept_by(owner));
  return 0;
}
[[nodiscard]] int visit_kept(const Stream& stream, visitproc visit, void* arg);

template <>
struct CollectorTraits<Stream> {
  static constexpr bool any = true;
  static bool may_keep(const Stream& stream) noexcept;
  static int visit(const Stream& stream, visitproc visit, void* arg) {
    return visit_kept(stream, visit, arg);
  }
};

template <>
struct CollectorTraits<Buffer> {
  static constexpr bool any = true;
  static bool may_keep(const Buffer& buffer) noexcept;
  static int visit(const Buffer& buffer, visitproc visit, void* arg);
  static void finalize(PyObject* self) noexcept;
};

}  // namespace cudacore::bindings
