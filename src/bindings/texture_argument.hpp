// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "bindings/launch_arrays.hpp"
#include "launch/kernel_box.hpp"
#include "launch/packing.hpp"

// Textures and surfaces as arguments.

namespace cudacore::bindings {

[[nodiscard]] bool is_texture_argument(PyObject* object) noexcept;

/// Packs the handle of a texture or of a surface, which `arrays` keeps; runs no Python. Returns
/// false for other objects.
/// @throw TypeMismatchError for a parameter that is no handle, or for an array, which only a
/// texture reaches; std::invalid_argument if it is closed; Error
[[nodiscard]] bool pack_texture_argument(const launching::KernelBox& kernel, std::size_t index,
                                         const launching::Slot& slot, PyObject* object,
                                         LaunchArrays& arrays, unsigned char* destination);

}  // namespace cudacore::bindings
