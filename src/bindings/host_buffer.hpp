// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <span>

namespace cudacore::bindings {

/// The memory of a host object, through the buffer protocol, for the life of this view.
class HostBuffer {
 public:
  /// @throw pybind11::type_error, with `what` in front, where the object shows no memory, is not
  /// C-contiguous, is read-only and `writable` was asked for, or holds Python objects, whose
  /// addresses mean nothing elsewhere. What the object itself raises otherwise comes through.
  HostBuffer(pybind11::handle object, bool writable, const char* what);
  ~HostBuffer() { PyBuffer_Release(&view_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

}  // namespace cudacore::bindings
