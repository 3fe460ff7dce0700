// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "bindings/collector.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

/// The class ManagedBuffer, which derives from Buffer.
inline PyTypeObject* managed_buffer_type = nullptr;

[[nodiscard]] inline bool is_managed_buffer(py::handle object) noexcept {
  return PyObject_TypeCheck(object.ptr(), managed_buffer_type) != 0;
}

/// A new reference to an object that holds a buffer that was just allocated: a ManagedBuffer if a
/// ManagedMemoryResource made it.
[[nodiscard]] inline PyObject* make_buffer(Buffer buffer) noexcept {
  const MemoryResource* resource = buffer.is_closed() ? nullptr : buffer.box()->resource.get();
  const bool is_managed = resource != nullptr && typeid(*resource) == typeid(ManagedMemoryResource);
  return make_object(std::move(buffer), is_managed ? managed_buffer_type : heap_type<Buffer>);
}

/// A Device or a Host. `what` begins the message.
/// @throw TypeError
[[nodiscard]] MemoryLocation to_location(py::handle object, const std::string& what);
/// The Device or the Host; None if it is unset.
[[nodiscard]] py::object to_object(const std::optional<MemoryLocation>& location);

/// The items of a sequence of Buffers, which no code changes. `what` begins the message, and
/// `for_one` says what takes a single Buffer.
/// @throw TypeError
[[nodiscard]] py::tuple to_buffers(py::handle object, const std::string& what, const char* for_one);
/// A share of each. Runs no Python code.
[[nodiscard]] std::vector<Buffer> shares_of(const py::tuple& buffers);

/// Raises the reason, if there is one, as an error for programs of cuda.core too.
void refuse_stream(const std::string& why);

}  // namespace cudacore::bindings
