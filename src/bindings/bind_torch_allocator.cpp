// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/policy.hpp"
#include "bindings/torch_allocator.hpp"

namespace cudacore::bindings {
namespace {

/// Whether its methods are those of a class written in C++.
bool is_native(py::handle resource) {
  const auto& types = py::detail::all_type_info(Py_TYPE(resource.ptr()));
  return types.size() == 1 && types.front()->type == Py_TYPE(resource.ptr());
}

}  // namespace

void bind_torch_allocator(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("_torch_slot", py::arg("resources"), py::arg("is_pool"),
             [](const py::list& objects, bool is_pool) {
               std::vector<std::shared_ptr<MemoryResource>> resources;
               for (const py::handle object : objects) {
                 if (is_pool && !is_native(object)) {
                   throw py::type_error(
                       "torch_pool: " + type_name(object) +
                       " is written in Python, which could deadlock: PyTorch calls it with a lock "
                       "held that other threads wait for with the GIL held. Give a resource of "
                       "cudacore's own, such as DeviceMemoryResource, or use torch_allocator");
                 }
                 resources.push_back(to_memory_resource(object));
               }
               return [resources, role = is_pool ? TorchRole::pool : TorchRole::allocator] {
                 return torch_slot(resources, role);
               };
             });
}

}  // namespace cudacore::bindings
