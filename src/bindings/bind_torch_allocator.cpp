// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/policy.hpp"
#include "bindings/torch_allocator.hpp"

namespace cudacore::bindings {

void bind_torch_allocator(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("_torch_slot", py::arg("resources"), py::arg("throws"),
             [](const py::list& objects, bool throws) {
               std::vector<std::shared_ptr<MemoryResource>> resources;
               for (const py::handle object : objects) {
                 resources.push_back(to_memory_resource(object));
               }
               return [resources,
                       when_short = throws ? WhenShort::throw_error : WhenShort::return_null] {
                 return torch_slot(resources, when_short);
               };
             });
}

}  // namespace cudacore::bindings
