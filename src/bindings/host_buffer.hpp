// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "driver/not_copied.hpp"

namespace cudacore::bindings {

/// Whether a format of the struct module, as PEP 3118 extends it, has an `O` outside of the names
/// of fields, which stand between colons.
[[nodiscard]] bool names_object(std::string_view format) noexcept;

/// The memory of a host object, through the buffer protocol, for the life of this view.
class HostBuffer : driver::NotCopied {
 public:
  /// @throw pybind11::type_error, with `what` in front, if the object shows no memory, is not
  /// C-contiguous, is read-only although `writable` was requested, or holds Python objects, whose
  /// addresses mean nothing elsewhere. Other errors of the object are passed on.
  HostBuffer(pybind11::handle object, bool writable, const char* what);
  ~HostBuffer() { PyBuffer_Release(&view_); }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

}  // namespace cudacore::bindings
