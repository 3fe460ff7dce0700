// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "bindings/launch_arrays.hpp"
#include "launch/packed_arguments.hpp"

namespace cudacore::bindings {

/// Checks a Python object against parameter `index` of a kernel and writes exactly the bytes that
/// `slot` declares. `arrays` says where the kernel will run, and notes the arrays of other
/// libraries.
/// @return whether Python code may have run, which may have closed a Buffer that is packed already.
/// @throw TypeMismatchError, std::overflow_error, std::invalid_argument (a closed buffer), each
/// naming the kernel and the parameter.
bool pack_argument(const launching::KernelBox& kernel, std::size_t index,
                   const launching::Slot& slot, PyObject* object, LaunchArrays& arrays,
                   unsigned char* destination);

/// The parameter that an object fits exactly, for a kernel whose parameters are unknown. May run
/// Python code.
/// @throw TypeMismatchError for plain numbers, whose type only a signature determines.
[[nodiscard]] Param exact_param(const launching::KernelBox& kernel, std::size_t index,
                                PyObject* object);

/// Checks Python objects against a kernel's parameters and writes exactly the bytes that the
/// parameters declare. `arrays` says where the kernel will run. What a parameter nearly always
/// gets, an int, a float or a Buffer, is packed here; pack_argument() packs or refuses the rest.
/// @throw as pack_argument()
void pack_arguments(const launching::KernelBox& kernel, PyObject* const* objects,
                    LaunchArrays& arrays, launching::PackedArguments& packed);

/// Advice on an array of the host for a pointer.
inline constexpr char host_advice[] =
    "it lives on the host; device.to_device(array) copies it into a Buffer";

/// Advice on an array for a parameter that is not a pointer.
inline constexpr char element_advice[] = "it is an array; pass one element, such as array.item()";

/// How a message names an argument: "a Python int", "a numpy.ndarray".
[[nodiscard]] std::string given(PyObject* object);

/// Refuses an argument: "axpy: argument 2 'x' (float const*) cannot take a Foo: advice".
/// @throw TypeMismatchError
[[noreturn]] void mismatch(const launching::KernelBox& kernel, std::size_t index, PyObject* object,
                           std::string_view advice = {});

}  // namespace cudacore::bindings
