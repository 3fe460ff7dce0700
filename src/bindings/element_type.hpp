// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/dlpack_abi.hpp"

namespace cudacore::bindings {

/// The type of an array's elements, as Python names it and as the protocols do. NumPy is not needed
/// to make one.
struct ElementType {
  std::string name;           ///< "float32"; NumPy's or ml_dtypes's name, or a NumPy type string
  std::string type_string;    ///< of the array interfaces: "<f4"; empty if they have no such type
  std::size_t size = 0;       ///< bytes
  std::size_t alignment = 1;  ///< bytes
  std::optional<dlpack::DataType> dlpack{};  ///< unset if DLPack has no such type
  pybind11::object dtype{};                  ///< the numpy.dtype that it was made from, if any

  [[nodiscard]] bool is_big_endian() const noexcept { return type_string.starts_with('>'); }
};

/// What a dtype argument means: a numpy.dtype, a class of NumPy, ml_dtypes or ctypes, one of
/// Python's numbers, a torch.dtype, or a name: "float32", "f4", "<f4", "bfloat16".
/// @throw TypeError, with `what` in front, for all else, and for types that hold Python objects.
[[nodiscard]] ElementType to_element_type(pybind11::handle object, const char* what);

/// What another library says of its array.
/// @throw BufferError if its size is not a whole number of bytes.
[[nodiscard]] ElementType element_type_of(dlpack::DataType type);

/// Elements of which only the size is known.
[[nodiscard]] ElementType opaque_elements(std::size_t size);

/// The numpy.dtype, for which NumPy is imported.
[[nodiscard]] pybind11::object numpy_dtype(const ElementType& type);

}  // namespace cudacore::bindings
