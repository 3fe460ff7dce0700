// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "launch/packed_arguments.hpp"

namespace cudacore::bindings {

/// Checks Python objects against a kernel's parameters and writes exactly the bytes that the
/// parameters declare. `device` is where the kernel will run. What a parameter nearly always gets,
/// an int, a float or a Buffer, is packed here; pack_argument() packs or refuses the rest.
/// @throw as pack_argument()
void pack_arguments(const launching::KernelBox& kernel, PyObject* const* objects, int device,
                    launching::PackedArguments& packed);

}  // namespace cudacore::bindings
