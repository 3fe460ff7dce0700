// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/graph_memory_attributes.hpp"
#include "bindings/instance.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "GraphMemoryResource.attributes";

template <typename Class>
void add_mark(Class& type, const char* name, GraphMemoryAttribute attribute) {
  type.property(name,
                [attribute](const GraphMemoryAttributes& self) { return self.get(attribute); });
  type.setter(name, [attribute, name](const GraphMemoryAttributes& self, py::handle value) {
    if (to_int<std::uint64_t>(value, std::string("GraphMemoryResourceAttributes.") + name) != 0) {
      // As cuda.core has it.
      PyErr_Format(PyExc_AttributeError, "Attribute '%s' may only be set to zero (got %S).", name,
                   value.ptr());
      throw py::error_already_set();
    }
    return [resource = self.resource, attribute] { resource->reset_high(attribute); };
  });
}

}  // namespace

void bind_graph_memory_attributes(py::module_& module) {
  HeapClass<GraphMemoryAttributes> type(module, "cudacore.GraphMemoryResourceAttributes",
                                        refuse_new<how_made>);
  type.property("reserved_mem_current", [](const GraphMemoryAttributes& self) {
    return self.get(GraphMemoryAttribute::reserved_mem_current);
  });
  add_mark(type, "reserved_mem_high", GraphMemoryAttribute::reserved_mem_high);
  type.property("used_mem_current", [](const GraphMemoryAttributes& self) {
    return self.get(GraphMemoryAttribute::used_mem_current);
  });
  add_mark(type, "used_mem_high", GraphMemoryAttribute::used_mem_high);
  type.def("__reduce__", quick, &refuse_pickle);
  type.def("__repr__", [](const GraphMemoryAttributes& self) {
    const auto field = [&](const char* name, GraphMemoryAttribute attribute) {
      return name + std::to_string(self.get(attribute));
    };
    return field("GraphMemoryResourceAttributes(reserved_mem_current=",
                 GraphMemoryAttribute::reserved_mem_current) +
           field(", reserved_mem_high=", GraphMemoryAttribute::reserved_mem_high) +
           field(", used_mem_current=", GraphMemoryAttribute::used_mem_current) +
           field(", used_mem_high=", GraphMemoryAttribute::used_mem_high) + ")";
  });
}

}  // namespace cudacore::bindings
