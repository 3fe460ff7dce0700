// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "launch/packed_arguments.hpp"

namespace cudacore::bindings {

/// Checks a Python object against parameter `index` of a kernel and writes exactly the bytes that
/// `slot` declares. `device` is where the kernel will run.
/// @return whether Python code may have run, which may have closed a Buffer that is packed already.
/// @throw TypeMismatchError, std::overflow_error, std::invalid_argument (a closed buffer),
/// NotSupportedError (another library's device array), each naming the kernel and the parameter.
bool pack_argument(const launching::KernelBox& kernel, std::size_t index,
                   const launching::Slot& slot, PyObject* object, int device,
                   unsigned char* destination);

/// The parameter that an object fits exactly, for a kernel whose parameters are unknown. May run
/// Python code.
/// @throw TypeMismatchError for plain numbers, whose type only a signature determines.
[[nodiscard]] Param exact_param(const launching::KernelBox& kernel, std::size_t index,
                                PyObject* object);

/// Checks Python objects against a kernel's parameters and writes exactly the bytes that the
/// parameters declare. `device` is where the kernel will run. What a parameter nearly always gets,
/// an int, a float or a Buffer, is packed here; pack_argument() packs or refuses the rest.
/// @throw as pack_argument()
void pack_arguments(const launching::KernelBox& kernel, PyObject* const* objects, int device,
                    launching::PackedArguments& packed);

}  // namespace cudacore::bindings
