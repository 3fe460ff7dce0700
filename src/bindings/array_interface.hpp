// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/foreign_array.hpp"

// The protocols that describe an array by a dict: NumPy's __array_interface__, for memory of the
// host, and __cuda_array_interface__, which is the same for memory that CUDA knows.

namespace cudacore::bindings {

/// Reads an array by its __cuda_array_interface__, of version 2 or 3. The driver says which device
/// the memory belongs to. Version 2 names no stream; its work counts as that of the device's legacy
/// default stream.
/// @return false if the object does not have it.
/// @throw ForeignArrayError; what the object raises.
[[nodiscard]] bool read_cuda_array_interface(PyObject* object, ForeignArray& array);

/// Reads an array by its __array_interface__, of version 3.
/// @return false if the object does not have it.
/// @throw ForeignArrayError; what the object raises.
[[nodiscard]] bool read_array_interface(PyObject* object, ForeignArray& array);

}  // namespace cudacore::bindings
