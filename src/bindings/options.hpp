// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <span>

#include "bindings/values.hpp"
#include "cudacore/linker.hpp"
#include "cudacore/program.hpp"

// Option classes: every field is checked when it is set, so that a wrong type is found where it is
// written. Wherever a function takes options, it takes the class, a mapping of fields, or None.

namespace cudacore::bindings {

[[nodiscard]] StreamOptions to_stream_options(py::handle object);
[[nodiscard]] EventOptions to_event_options(py::handle object);
[[nodiscard]] std::optional<DeviceMemoryResourceOptions> to_device_pool_options(py::handle object);
[[nodiscard]] PinnedMemoryResourceOptions to_pinned_pool_options(py::handle object);
[[nodiscard]] ManagedMemoryResourceOptions to_managed_pool_options(py::handle object);
[[nodiscard]] ProgramOptions to_program_options(py::handle object);
[[nodiscard]] LinkerOptions to_linker_options(py::handle object);

/// Refuses keywords of a constructor that are fields of the option class that it takes.
/// @throw pybind11::type_error
void refuse_fields(PyTypeObject* options, const char* function,
                   std::span<const char* const> keywords, PyObject* kwargs);

}  // namespace cudacore::bindings

namespace pybind11::detail {

template <>
struct type_caster<cudacore::StreamOptions>
    : cudacore::bindings::HeapCaster<cudacore::StreamOptions> {};
template <>
struct type_caster<cudacore::EventOptions>
    : cudacore::bindings::HeapCaster<cudacore::EventOptions> {};
template <>
struct type_caster<cudacore::DeviceMemoryResourceOptions>
    : cudacore::bindings::HeapCaster<cudacore::DeviceMemoryResourceOptions> {};
template <>
struct type_caster<cudacore::PinnedMemoryResourceOptions>
    : cudacore::bindings::HeapCaster<cudacore::PinnedMemoryResourceOptions> {};
template <>
struct type_caster<cudacore::ManagedMemoryResourceOptions>
    : cudacore::bindings::HeapCaster<cudacore::ManagedMemoryResourceOptions> {};
template <>
struct type_caster<cudacore::ProgramOptions>
    : cudacore::bindings::HeapCaster<cudacore::ProgramOptions> {};
template <>
struct type_caster<cudacore::LinkerOptions>
    : cudacore::bindings::HeapCaster<cudacore::LinkerOptions> {};

}  // namespace pybind11::detail
