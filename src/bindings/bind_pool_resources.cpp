// SPDX-License-Identifier: Apache-2.0
#include "bindings/memory_resource_class.hpp"
#include "bindings/options.hpp"
#include "bindings/pool_attributes.hpp"

namespace cudacore::bindings {
namespace {

void bind_pool_base(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<PoolMemoryResource, MemoryResource>(
      module, "_PoolMemoryResource", metaclass, class_documentation("_PoolMemoryResource").c_str())
      .property(
          "attributes", quick,
          [](const std::shared_ptr<PoolMemoryResource>& self) { return PoolAttributes{self}; })
      .property("handle", quick, read<&PoolMemoryResource::handle>)
      .property("is_handle_owned", quick, read<&PoolMemoryResource::is_handle_owned>)
      .property("is_ipc_enabled", quick, [](const PoolMemoryResource&) { return false; })
      .property("is_mapped", quick, [](const PoolMemoryResource&) { return false; })
      .def("close", [](PoolMemoryResource& self) { self.close(); })
      .property("is_closed", quick, read<&PoolMemoryResource::is_closed>)
      .def("trim", py::arg("min_bytes_to_keep") = 0,
           [](const PoolMemoryResource& self, py::handle keep) {
             return [&self, kept = to_byte_count(keep, "MemoryResource.trim")] { self.trim(kept); };
           });
}

py::object preferred_location(const ManagedMemoryResource& self) {
  const ManagedMemoryResourceOptions& options = self.options();
  const char* name = name_of(options.preferred_location_type);
  return name == nullptr ? py::object(py::none())
                         : py::object(py::make_tuple(
                               name, options.preferred_location
                                         ? py::object(py::int_(*options.preferred_location))
                                         : py::object(py::none())));
}

/// Makes a pool of device memory: of the class itself, or of one that derives from it in Python.
template <typename T>
auto make_device_pool(py::handle id, py::handle options) {
  return [of = to_device(id),
          chosen = options.is_none() ? std::nullopt
                                     : std::optional(to_options<DeviceMemoryResourceOptions>(
                                           options))]() -> std::shared_ptr<DeviceMemoryResource> {
    return std::make_shared<T>(of, chosen);
  };
}

}  // namespace

void bind_pool_resources(py::module_& module, const py::metaclass& metaclass) {
  bind_pool_base(module, metaclass);
  bind_pool_attributes(module);

  using Class = py::class_<DeviceMemoryResource, PyDeviceMemoryResource, PoolMemoryResource,
                           std::shared_ptr<DeviceMemoryResource>>;
  MethodsWithPolicy<Class> device(module, "DeviceMemoryResource", metaclass);
  device.def_init_of_both(py::arg("device_id"), py::arg("options") = py::none(),
                          &make_device_pool<DeviceMemoryResource>,
                          &make_device_pool<PyDeviceMemoryResource>);
  add_members<DeviceMemoryResource>(device);

  ResourceClass<PinnedMemoryResource, PoolMemoryResource> pinned(module, "PinnedMemoryResource",
                                                                 py::is_final(), metaclass);
  pinned.def_init(py::arg("options") = py::none(), [](py::handle options) {
    return [chosen = to_options<PinnedMemoryResourceOptions>(options)] {
      return std::make_shared<PinnedMemoryResource>(chosen);
    };
  });
  pinned.property("numa_id", quick, read<&PinnedMemoryResource::numa_id>);
  add_members<PinnedMemoryResource>(pinned);

  ResourceClass<ManagedMemoryResource, PoolMemoryResource> managed(module, "ManagedMemoryResource",
                                                                   py::is_final(), metaclass);
  managed.def_init(py::arg("options") = py::none(), [](py::handle options) {
    return [chosen = to_options<ManagedMemoryResourceOptions>(options)] {
      return std::make_shared<ManagedMemoryResource>(chosen);
    };
  });
  managed.property("preferred_location", quick, &preferred_location);
  add_members<ManagedMemoryResource>(managed);
}

}  // namespace cudacore::bindings
