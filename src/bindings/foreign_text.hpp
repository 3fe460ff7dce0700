// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

namespace cudacore::bindings {

/// What a compiler or a driver says as a str: it may quote bytes that are no UTF-8, of a path or of
/// the source, which show as \xe9.
[[nodiscard]] inline pybind11::str foreign_text(std::string_view text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (decoded == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(decoded);
}

}  // namespace cudacore::bindings
