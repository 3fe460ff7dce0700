// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "driver/driver_api.hpp"

namespace cudacore::bindings {

/// The handle that another library's object gives by __cuda_stream__. Runs Python code.
/// @throw TypeError, OverflowError; what the object raises.
[[nodiscard]] CUstream foreign_stream(pybind11::handle object);

}  // namespace cudacore::bindings
