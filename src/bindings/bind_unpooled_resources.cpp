// SPDX-License-Identifier: Apache-2.0
#include "bindings/memory_resource_class.hpp"

namespace cudacore::bindings {

void bind_unpooled_resources(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<LegacyPinnedMemoryResource, MemoryResource> legacy(
      module, "LegacyPinnedMemoryResource", py::is_final(), metaclass);
  legacy.def(py::init<>());
  add_members<LegacyPinnedMemoryResource>(legacy);

  ResourceClass<SynchronousMemoryResource, MemoryResource> synchronous(
      module, "SynchronousMemoryResource", py::is_final(), metaclass);
  synchronous.def_init(quick, py::arg("device_id"), [](py::handle id) {
    return std::make_shared<SynchronousMemoryResource>(to_device(id));
  });
  add_members<SynchronousMemoryResource>(synchronous);
}

}  // namespace cudacore::bindings
