// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings/collector.hpp"

namespace cudacore::bindings {

/// A Device object: one for each thread and ordinal, with the thread's choice of memory resource.
struct PyDevice {
  Device device;
  std::shared_ptr<MemoryResource> memory_resource;
};

template <>
struct CollectorTraits<PyDevice> {
  static constexpr bool any = true;
  static bool may_keep(const PyDevice& /*device*/) noexcept { return true; }
  static int visit(const PyDevice& device, visitproc visit, void* arg) {
    return visit_kept(device.memory_resource, visit, arg);
  }
};

/// The calling thread's Device object for an ordinal.
[[nodiscard]] py::object device_object(int ordinal);
/// Device.allocate(size, *, stream=None); `size` is null if none was given.
[[nodiscard]] PyObject* allocate_on_device(PyDevice& device, py::handle size, py::handle stream);
/// The resource that a Device object allocates from.
[[nodiscard]] const std::shared_ptr<MemoryResource>& resource_of(PyDevice& device);

/// A context with the resources that a ContextOptions, or a mapping of its fields, lists.
[[nodiscard]] Context create_green_context(const Device& device, py::handle options);

}  // namespace cudacore::bindings
