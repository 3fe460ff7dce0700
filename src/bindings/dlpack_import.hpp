// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/foreign_array.hpp"

namespace cudacore::bindings {

/// Reads an array by the C exchange API of its type, which is looked up once for each type. Runs no
/// Python code after that.
/// @return false if the type has none, or one of a major version that is not known.
/// @throw ForeignArrayError; what the library raises.
[[nodiscard]] bool read_exchange_api(PyObject* object, Sharing sharing, ForeignArray& array);

/// Reads an array by __dlpack__, and owns what that returns. `consumer` is made to wait for the
/// array's work; null leaves that out.
/// @return false if the object does not have it.
/// @throw ForeignArrayError; what the object raises.
[[nodiscard]] bool read_dlpack(PyObject* object, CUstream consumer, ForeignArray& array);

/// Takes over a tensor, which is released even if it is refused.
/// @throw ForeignArrayError
void read_managed_tensor(dlpack::ManagedTensorVersioned* tensor, ForeignArray& array);

/// Passes on the Python error that a C function of another library left, or says that it failed.
[[noreturn]] void throw_protocol_error(const char* function);

}  // namespace cudacore::bindings
