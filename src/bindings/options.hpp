// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "bindings/conversions.hpp"
#include "cudacore/graph_builder.hpp"
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
inline constexpr std::array names_of<CaptureMode>{"global", "thread_local", "relaxed"};
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

/// What messages call the values of an enumeration: "'minimum' or 'recommended'".
template <typename E>
inline constexpr std::array<char, 128> listed_names = [] {
  std::array<char, 128> text{};
  std::size_t length = 0;
  const auto append = [&](std::string_view part) {
    for (const char character : part) text.at(length++) = character;
  };
  constexpr std::size_t first = names_of<E>.front() == nullptr ? 1 : 0;
  constexpr std::size_t end = names_of<E>.size();
  for (std::size_t i = first; i < end; ++i) {
    if (i > first) append(i + 1 < end || first == 1 ? ", " : " or ");
    append("'");
    append(names_of<E>[i]);
    append("'");
  }
  if (first == 1) append(" or None");
  return text;
}();

/// Which of the names a str, or None, is. `what` begins the message, and `expected` lists them.
/// @throw pybind11::type_error, pybind11::value_error
[[nodiscard]] std::size_t find_name(py::handle object, std::span<const char* const> names,
                                    const std::string& what, const char* expected);

/// The value that a str, or None, names. `what` begins the message.
/// @throw pybind11::type_error, pybind11::value_error
template <typename E>
[[nodiscard]] E to_enum(py::handle object, const std::string& what) {
  return static_cast<E>(find_name(object, names_of<E>, what, listed_names<E>.data()));
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
