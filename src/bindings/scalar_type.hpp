// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "cudacore/signature.hpp"

namespace cudacore::bindings {

/// What kind of value the objects of a Python type hold, for types of other libraries: NumPy's and
/// ml_dtypes's scalars, ctypes's simple types and structures.
struct ScalarType {
  enum class Access : std::uint8_t {
    none,       ///< not a value: an array, a string, anything else
    at_offset,  ///< the bytes lie in the object, behind its header (NumPy scalars)
    buffer,     ///< the bytes are shown by the buffer protocol (ctypes, numpy.void)
    as_float,   ///< float(object) is exact (ml_dtypes.bfloat16)
  };

  PyTypeObject* type = nullptr;
  Access access = Access::none;
  ParamKind kind = ParamKind::opaque;
  std::uint8_t size = 0;  ///< bytes; 0 for structures, whose size comes from the buffer
};

/// What an object's type is. The types seen last are remembered, and kept alive; learning another
/// may run Python code.
[[nodiscard]] ScalarType scalar_type(PyObject* object);

/// Where a NumPy scalar's bytes begin.
[[nodiscard]] inline const unsigned char* scalar_bytes(PyObject* object) noexcept {
  return reinterpret_cast<const unsigned char*>(object) + sizeof(PyObject);
}

}  // namespace cudacore::bindings
