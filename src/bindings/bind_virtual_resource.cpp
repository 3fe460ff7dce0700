// SPDX-License-Identifier: Apache-2.0
#include "bindings/memory_resource_class.hpp"
#include "bindings/options.hpp"

namespace cudacore::bindings {
namespace {

/// Calls modify_allocation(buf, new_size, config=None).
auto modify_allocation(VirtualMemoryResource& self, py::handle buffer, py::handle new_size,
                       py::handle config) {
  constexpr const char* function = "VirtualMemoryResource.modify_allocation";
  const std::size_t size = to_size(new_size, std::string(function) + ": new_size");
  std::optional<VirtualMemoryResourceOptions> options;
  if (!config.is_none()) options = to_options<VirtualMemoryResourceOptions>(config);
  const auto* given = get_if<Buffer>(buffer.ptr());
  if (given == nullptr) refuse_type(std::string(function) + ": buf", "a Buffer", buffer);
  return [&self, share = *given, size, options = std::move(options)] {
    return self.modify_allocation(share, size, options);
  };
}

/// Descriptors for the caller to close, with the sizes of the memory behind them.
py::list share(const VirtualMemoryResource& self, py::handle buffer) {
  const auto* given = get_if<Buffer>(buffer.ptr());
  if (given == nullptr) refuse_type("VirtualMemoryResource._share: buf", "a Buffer", buffer);
  const auto parts = without_gil([&self, kept = *given] { return self.share(kept); });
  py::list list;
  for (const MemoryShare& part : parts) {
    list.append(py::make_tuple(part.descriptor, part.size));
  }
  return list;
}

auto map_shared(VirtualMemoryResource& self, py::handle parts, py::handle stream) {
  std::vector<MemoryShare> given;
  for (const py::handle part : py::tuple(py::reinterpret_borrow<py::object>(parts))) {
    given.push_back({part[py::int_(0)].cast<int>(), part[py::int_(1)].cast<std::size_t>()});
  }
  return [&self, given = std::move(given), chosen = to_stream(stream, self.device().id())] {
    return self.map_shared(given, chosen);
  };
}

}  // namespace

void bind_virtual_resource(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<VirtualMemoryResource, MemoryResource> type(module, "VirtualMemoryResource",
                                                            py::is_final(), metaclass);
  type.def_init(py::arg("device_id"), py::arg("config") = py::none(),
                [](py::handle id, py::handle config) {
                  const Device device = to_device(id);
                  auto options = to_options<VirtualMemoryResourceOptions>(config);
                  // Tells multiprocessing how to send its memory.
                  if (options.handle_type == VirtualHandle::posix_fd)
                    py::module_::import("cudacore._ipc");
                  return [device, options = std::move(options)] {
                    return std::make_shared<VirtualMemoryResource>(device, options);
                  };
                });
  type.def("modify_allocation", py::arg("buf"), py::arg("new_size"), py::arg("config") = py::none(),
           &modify_allocation)
      .def("_share", in_parts, py::arg("buf"), &share)
      .def("_map_shared", py::arg("parts"), py::arg("stream") = py::none(), &map_shared)
      .def("__reduce__", quick,
           [](const py::object& self) {
             const auto& resource = self.cast<const VirtualMemoryResource&>();
             return py::make_tuple(py::type::of(self),
                                   py::make_tuple(resource.device().id(), self.attr("config")));
           })
      .property("is_ipc_enabled", quick,
                [](const VirtualMemoryResource& self) {
                  return self.options().handle_type == VirtualHandle::posix_fd;
                })
      .property("config", quick, [](const VirtualMemoryResource& self) {
        return py::reinterpret_steal<py::object>(make_object(self.options()));
      });
  add_members<VirtualMemoryResource>(type);
}

}  // namespace cudacore::bindings
