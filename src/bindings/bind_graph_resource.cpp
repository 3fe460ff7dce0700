// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "bindings/graph_memory_attributes.hpp"
#include "bindings/memory_resource_class.hpp"

namespace cudacore::bindings {

namespace {

/// GraphMemoryResource.__new__: there is one object for each device.
py::object graph_resource_of(py::handle /*type*/, py::handle id) {
  static auto& made = *std::make_unique<std::map<int, py::object>>().release();
  const Device device = to_device(id);
  py::object& known = made[device.id()];
  if (!known) known = py::cast(std::make_shared<GraphMemoryResource>(device));
  return known;
}

}  // namespace

void bind_graph_resource(py::module_& module, const py::metaclass& metaclass) {
  bind_graph_memory_attributes(module);
  ResourceClass<GraphMemoryResource, MemoryResource> type(module, "GraphMemoryResource",
                                                          py::is_final(), metaclass);
  type.attr("__new__") = py::staticmethod(
      py::cpp_function(&graph_resource_of, py::name("__new__"), py::scope(type), py::arg("cls"),
                       py::arg("device_id"), "The object of a device; see ``help(type)``."));
  type.def("__init__", quick, py::arg("device_id"), [](py::handle, py::handle) {});
  type.property("attributes", quick, [](const std::shared_ptr<GraphMemoryResource>& self) {
    return GraphMemoryAttributes{self};
  });
  type.def("trim", [](const GraphMemoryResource& self) { self.trim(); });
  type.def("close", quick, [](const GraphMemoryResource&) {});
  add_members<GraphMemoryResource>(type);
}

}  // namespace cudacore::bindings
