// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace cudacore::bindings {

/// The value of an int; `overflowed` says in which direction if it does not fit.
inline long long as_long_long(PyObject* object, int& overflowed) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  const auto* number = reinterpret_cast<const PyLongObject*>(object);
  if (PyUnstable_Long_IsCompact(number) != 0) return PyUnstable_Long_CompactValue(number);
#endif
  return PyLong_AsLongLongAndOverflow(object, &overflowed);
}

}  // namespace cudacore::bindings
