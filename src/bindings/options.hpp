// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <span>

#include "bindings/conversions.hpp"
#include "cudacore/virtual_memory_resource.hpp"

// Option classes check every field when it is set, so that the traceback shows where a wrong type
// was written. A function that takes options takes the class, a mapping of fields, or None.

namespace cudacore::bindings {

/// The strings for the values of an enumeration, in their order; null for None.
template <typename E>
inline constexpr std::array<const char*, 0> names_of{};
template <>
inline constexpr std::array names_of<ManagedLocation>{static_cast<const char*>(nullptr), "device",
                                                      "host", "host_numa"};
template <>
inline constexpr std::array names_of<VirtualAllocation>{"pinned", "managed"};
template <>
inline constexpr std::array names_of<VirtualLocation>{"device", "host", "host_numa",
                                                      "host_numa_current"};
template <>
inline constexpr std::array names_of<VirtualHandle>{static_cast<const char*>(nullptr), "posix_fd",
                                                    "win32_kmt", "fabric"};
template <>
inline constexpr std::array names_of<VirtualGranularity>{"minimum", "recommended"};
template <>
inline constexpr std::array names_of<VirtualAccess>{static_cast<const char*>(nullptr), "r", "rw"};

template <>
inline constexpr std::array names_of<MemcpySrcAccessOrder>{"stream", "during_api_call", "any"};
template <>
inline constexpr std::array names_of<MemcpyOverlapMode>{"default", "prefer_overlap_with_compute"};

template <>
inline constexpr std::array names_of<AccessProperty>{"normal", "streaming", "persisting"};
template <>
inline constexpr std::array names_of<SyncPolicy>{"auto", "spin", "yield", "blocking_sync"};
template <>
inline constexpr std::array names_of<MemSyncDomain>{"default", "remote"};
template <>
inline constexpr std::array names_of<ClusterSchedulingPolicy>{"default", "spread",
                                                              "load_balancing"};
template <>
inline constexpr std::array names_of<PortableClusterSizeMode>{"default", "require_portable",
                                                              "allow_non_portable"};
template <>
inline constexpr std::array names_of<SharedMemoryMode>{
    "default", "require_portable", "allow_non_portable", "allow_oversized", "prefer_oversized"};

template <typename E>
[[nodiscard]] constexpr const char* name_of(E value) noexcept {
  return names_of<E>[static_cast<std::size_t>(value)];
}

/// The value that a str names. `what` begins the message.
/// @throw pybind11::type_error, pybind11::value_error
template <typename E>
[[nodiscard]] E to_enum(py::handle object, const std::string& what) {
  std::string expected;
  for (const char* name : names_of<E>) {
    expected += std::string(expected.empty() ? "" : ", ") + "'" + name + "'";
  }
  if (PyUnicode_Check(object.ptr()) == 0) refuse_type(what, "one of " + expected, object);
  for (std::size_t i = 0; i < names_of<E>.size(); ++i) {
    if (PyUnicode_CompareWithASCIIString(object.ptr(), names_of<E>[i]) == 0) {
      return static_cast<E>(i);
    }
  }
  throw py::value_error(what + " must be one of " + expected + ", not " + shown(object));
}

/// A tuple or list of two domains. `what` begins the message.
/// @throw pybind11::type_error, pybind11::value_error
[[nodiscard]] MemSyncDomainMap to_mem_sync_domain_map(py::handle object, const char* what);

/// For each option struct.
/// @throw pybind11::type_error, pybind11::value_error
template <typename T>
[[nodiscard]] T to_options(py::handle object);

/// Refuses keywords of a constructor that are fields of the option class that it takes.
/// @throw pybind11::type_error
void refuse_fields(py::handle options, const char* function, std::span<const char* const> keywords,
                   PyObject* kwargs);

}  // namespace cudacore::bindings
