// SPDX-License-Identifier: Apache-2.0
#include "bindings/caching_report.hpp"
#include "bindings/memory_resource_class.hpp"

namespace cudacore::bindings {
namespace {

std::size_t to_max_size(py::handle object) {
  if (object.is_none()) return 0;
  const std::size_t size = to_size(object, "CachingMemoryResource: max_size");
  if (size == 0) {
    throw py::value_error("CachingMemoryResource: max_size must be positive, or None for no limit");
  }
  return size;
}

}  // namespace

void bind_caching_resource(py::module_& module, const py::metaclass& metaclass) {
  add_caching_statistics();
  ResourceClass<CachingMemoryResource, MemoryResource> caching(module, "CachingMemoryResource",
                                                               py::is_final(), metaclass);
  caching.def_init(py::arg("upstream"), py::kw_only(), py::arg("max_size") = py::none(),
                   [](py::handle upstream, py::handle max_size) {
                     if (!py::isinstance<MemoryResource>(upstream)) {
                       refuse_type("CachingMemoryResource: upstream",
                                   "a MemoryResource, such as DeviceMemoryResource(device)",
                                   upstream);
                     }
                     return [from = to_memory_resource(upstream), most = to_max_size(max_size)] {
                       return std::make_shared<CachingMemoryResource>(from, most);
                     };
                   });
  add_members<CachingMemoryResource>(caching);
  caching
      .property("upstream", quick,
                [](const CachingMemoryResource& self) { return kept_object(self.upstream()); })
      .property("max_size", quick,
                [](const CachingMemoryResource& self) {
                  return self.max_size() != 0 ? py::object(py::int_(self.max_size()))
                                              : py::object(py::none());
                })
      .property("statistics", quick,
                [](const CachingMemoryResource& self) { return to_object(self.statistics()); })
      .def("reset_peak_statistics", quick, [](CachingMemoryResource& self) { self.reset_peaks(); })
      .def("snapshot", quick,
           [](const CachingMemoryResource& self) {
             return to_object(self.snapshot(), self.device_id());
           })
      .def("close", [](CachingMemoryResource& self) { self.close(); })
      .property("is_closed", quick, read<&CachingMemoryResource::is_closed>)
      .def("trim", py::arg("min_bytes_to_keep") = 0,
           [](CachingMemoryResource& self, py::handle keep) {
             return [&self, kept = to_size(keep, "MemoryResource.trim: min_bytes_to_keep")] {
               self.trim(kept);
             };
           });
}

}  // namespace cudacore::bindings
