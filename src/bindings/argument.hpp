// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "launch/kernel_box.hpp"

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
/// @throw TypeMismatchError for plain numbers, whose type only a signature can tell.
[[nodiscard]] Param exact_param(const launching::KernelBox& kernel, std::size_t index,
                                PyObject* object);

}  // namespace cudacore::bindings
