// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "bindings/dlpack_abi.hpp"
#include "cudacore/opaque_array.hpp"

namespace cudacore::bindings {

/// The type and the shape of what is copied to an OpaqueArray, or from one.
struct ArrayElements {
  bool is_typed = false;  ///< false for plain bytes, and for types that no OpaqueArray has
  dlpack::DataType type{};
  std::vector<std::int64_t> shape{};
};

/// What an object says by the buffer protocol. Runs Python code.
[[nodiscard]] ArrayElements elements_of_host_object(pybind11::handle object);

/// Refuses typed elements that are not those of an OpaqueArray, or lie in another order. How many
/// there are is not checked for elements in one dimension. `what` begins the messages; it ends in
/// the name of the argument.
/// @throw TypeMismatchError, std::invalid_argument
void require_fit(const ArrayElements& given, const OpaqueArray& array, const char* what);

}  // namespace cudacore::bindings
