// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bindings/instance.hpp"
#include "bindings/memory_resource_class.hpp"
#include "bindings/options.hpp"
#include "bindings/pool_attributes.hpp"
#include "bindings/pool_registry.hpp"

namespace cudacore::bindings {
namespace {

/// The part of sharing that is written in Python.
py::module_ pool_sharing() { return py::module_::import("cudacore._ipc"); }

/// The Python object of a pool; None for null. A class in Python may derive from the pool's.
py::object pool_object(const std::shared_ptr<PoolMemoryResource>& pool) {
  if (auto of_device = std::dynamic_pointer_cast<DeviceMemoryResource>(pool)) {
    return py::cast(std::move(of_device));
  }
  return py::cast(pool);
}

py::tuple share_pointer(PoolMemoryResource& self, py::handle buffer) {
  const auto* given = get_if<Buffer>(buffer.ptr());
  if (given == nullptr) refuse_type("MemoryResource._share: buf", "a Buffer", buffer);
  const PointerShare share = without_gil([&self, kept = *given] { return self.share(kept); });
  return py::make_tuple(
      py::bytes(reinterpret_cast<const char*>(share.data.data()), share.data.size()), share.size);
}

auto map_pointer(PoolMemoryResource& self, const py::bytes& data, std::size_t size,
                 py::handle stream) {
  PointerShare share;
  const std::string_view bytes(data);
  if (bytes.size() != share.data.size()) {
    throw py::value_error("a damaged descriptor of shared memory: it has " +
                          std::to_string(bytes.size()) + " bytes");
  }
  std::memcpy(share.data.data(), bytes.data(), bytes.size());
  share.size = size;
  return [&self, share, chosen = to_stream(stream, self.device_id())] {
    return self.map_shared(share, chosen);
  };
}

std::vector<int> to_ordinals(py::handle devices) {
  std::vector<int> ordinals;
  for (const py::handle device : py::list(py::reinterpret_borrow<py::object>(devices))) {
    ordinals.push_back(to_device(device).id());
  }
  return ordinals;
}

void bind_pool_base(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<PoolMemoryResource, MemoryResource>(
      module, "_PoolMemoryResource", metaclass, class_documentation("_PoolMemoryResource").c_str())
      .property(
          "attributes", quick,
          [](const std::shared_ptr<PoolMemoryResource>& self) { return PoolAttributes{self}; })
      .property("handle", quick, read<&PoolMemoryResource::handle>)
      .property("is_handle_owned", quick, read<&PoolMemoryResource::is_handle_owned>)
      .property("is_ipc_enabled", quick,
                [](const PoolMemoryResource& self) { return self.is_ipc_enabled(); })
      .property("is_mapped", quick, [](const PoolMemoryResource& self) { return self.is_mapped(); })
      .property("allocation_handle", in_parts,
                [](const py::object& self) { return pool_sharing().attr("handle_of")(self); })
      .property("uuid", in_parts,
                [](const py::object& self) { return pool_sharing().attr("uuid_of")(self); })
      .def("register", in_parts, py::arg("uuid"),
           [](const py::object& self, const py::object& uuid) {
             return pool_sharing().attr("register")(self, uuid);
           })
      .def_static("from_registry", in_parts, py::arg("uuid"),
                  [](const py::object& uuid) { return pool_sharing().attr("registered")(uuid); })
      .def("__reduce__", in_parts,
           [](const py::object& self) {
             if (!self.cast<const PoolMemoryResource&>().is_ipc_enabled()) refuse_pickle(self);
             return pool_sharing().attr("reduce_pool")(self);
           })
      .def("_share_pool", [](const PoolMemoryResource& self) { return self.share_pool(); })
      .def("_share", in_parts, py::arg("buf"), &share_pointer)
      .def("_map_shared", py::arg("data"), py::arg("size"), py::arg("stream") = py::none(),
           &map_pointer)
      .property("_uuid", quick,
                [](const PoolMemoryResource& self) -> py::object {
                  const std::optional<PoolUuid> known = uuid_of(self);
                  return known ? py::object(py::bytes(*known)) : py::object(py::none());
                })
      .def("_register", quick, py::arg("uuid"),
           [](const std::shared_ptr<PoolMemoryResource>& self, const py::bytes& uuid) {
             return pool_object(register_pool(self, uuid));
           })
      .def_static("_registered", quick, py::arg("uuid"),
                  [](const py::bytes& uuid) { return pool_object(registered_pool(uuid)); })
      .def("close", [](PoolMemoryResource& self) { self.close(); })
      .property("is_closed", quick, read<&PoolMemoryResource::is_closed>)
      .def("trim", py::arg("min_bytes_to_keep") = 0,
           [](const PoolMemoryResource& self, py::handle keep) {
             return [&self, kept = to_size(keep, "MemoryResource.trim: min_bytes_to_keep")] {
               self.trim(kept);
             };
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
  const Device of = to_device(id);
  std::optional<DeviceMemoryResourceOptions> chosen;
  if (!options.is_none()) chosen = to_options<DeviceMemoryResourceOptions>(options);
  if (chosen && chosen->ipc_enabled) pool_sharing();  // tells multiprocessing how to send it
  return [of, chosen]() -> std::shared_ptr<DeviceMemoryResource> {
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
  device.def_static("from_allocation_handle", in_parts, py::arg("device_id"),
                    py::arg("alloc_handle"), [](const py::object& id, const py::object& handle) {
                      return pool_sharing().attr("device_pool_from")(id, handle);
                    });
  device.def("_peers", in_parts, [](const DeviceMemoryResource& self) {
    py::list ordinals;
    for (const int peer : without_gil([&self] { return self.peers(); })) ordinals.append(peer);
    return ordinals;
  });
  device.def("_change_peers", py::arg("allowed"), py::arg("denied"),
             [](const DeviceMemoryResource& self, py::handle allowed, py::handle denied) {
               return [&self, gain = to_ordinals(allowed), lose = to_ordinals(denied)] {
                 self.change_peers(gain, lose);
               };
             });
  static_cast<Class&>(device).def_property(
      "peer_accessible_by",
      [](const py::object& self) {
        return py::module_::import("cudacore._peers").attr("Peers")(self);
      },
      [](const py::object& self, const py::object& devices) {
        py::module_::import("cudacore._peers").attr("set_peers")(self, devices);
      },
      documentation(device, "peer_accessible_by"));
  device.def_static("_import", py::arg("device_id"), py::arg("descriptor"),
                    [](py::handle id, int descriptor) {
                      return [of = to_device(id), from = PoolDescriptor{descriptor}] {
                        return std::make_shared<DeviceMemoryResource>(of, from);
                      };
                    });
  device.def_init_of_both(py::arg("device_id"), py::arg("options") = py::none(),
                          &make_device_pool<DeviceMemoryResource>,
                          &make_device_pool<PyDeviceMemoryResource>);
  add_members<DeviceMemoryResource>(device);

  ResourceClass<PinnedMemoryResource, PoolMemoryResource> pinned(module, "PinnedMemoryResource",
                                                                 py::is_final(), metaclass);
  pinned.def_init(py::arg("options") = py::none(), [](py::handle options) {
    const auto chosen = to_options<PinnedMemoryResourceOptions>(options);
    if (chosen.ipc_enabled) pool_sharing();
    return [chosen] { return std::make_shared<PinnedMemoryResource>(chosen); };
  });
  pinned.def_static(
      "from_allocation_handle", in_parts, py::arg("alloc_handle"),
      [](const py::object& handle) { return pool_sharing().attr("pinned_pool_from")(handle); });
  pinned.def_static("_import", py::arg("descriptor"), [](int descriptor) {
    return std::make_shared<PinnedMemoryResource>(PoolDescriptor{descriptor});
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
