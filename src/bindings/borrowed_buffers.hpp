// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "bindings/heap_type.hpp"
#include "bindings/strided_view.hpp"

namespace cudacore::bindings {

/// The Buffers among the arguments of a call, and those that its views show: whoever closes one
/// meanwhile, its memory lasts until the call has queued its work. As Borrowed, it costs no locked
/// instruction. Made and destroyed with the GIL; the arguments must be held throughout. Objects of
/// derived classes are left out, which would be slow to tell from other arguments.
class BorrowedBuffers : driver::NotCopied {
 public:
  BorrowedBuffers(PyObject* const* objects, std::size_t count) noexcept
      : objects_(objects), count_(count) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (auto* buffer = buffer_behind(objects_[i])) ++buffer->borrows;
    }
  }
  ~BorrowedBuffers() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (auto* buffer = buffer_behind(objects_[i])) end_borrow(*buffer);
    }
  }

 private:
  /// The same each time: neither the types nor a view ever change.
  static HeapObject<Buffer>* buffer_behind(PyObject* object) noexcept {
    const PyTypeObject* type = Py_TYPE(object);
    if (type == heap_type<Buffer>) return reinterpret_cast<HeapObject<Buffer>*>(object);
    if (type != heap_type<StridedView>) [[likely]]
      return nullptr;
    PyObject* exporter = get_if<StridedView>(object)->exporter.ptr();
    return get_if<Buffer>(exporter) == nullptr ? nullptr
                                               : reinterpret_cast<HeapObject<Buffer>*>(exporter);
  }

  PyObject* const* objects_;
  std::size_t count_;
};

}  // namespace cudacore::bindings
