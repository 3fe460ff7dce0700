// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <span>

#include "bindings/conversions.hpp"

// Option classes check every field when it is set, so that the traceback shows where a wrong type
// was written. A function that takes options takes the class, a mapping of fields, or None.

namespace cudacore::bindings {

/// By value; no name for none.
inline constexpr std::array<const char*, 4> location_names{nullptr, "device", "host", "host_numa"};
[[nodiscard]] constexpr const char* name_of(ManagedLocation location) noexcept {
  return location_names[static_cast<std::size_t>(location)];
}

/// For each option struct.
/// @throw pybind11::type_error, pybind11::value_error
template <typename T>
[[nodiscard]] T to_options(py::handle object);

/// Refuses keywords of a constructor that are fields of the option class that it takes.
/// @throw pybind11::type_error
void refuse_fields(py::handle options, const char* function, std::span<const char* const> keywords,
                   PyObject* kwargs);

}  // namespace cudacore::bindings
