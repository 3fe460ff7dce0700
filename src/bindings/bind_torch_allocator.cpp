// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/policy.hpp"
#include "bindings/torch_allocator.hpp"
#include "cudacore/caching_memory_resource.hpp"

namespace cudacore::bindings {
namespace {

/// The resource, or one that it takes memory from, whose methods are not those of a class written
/// in C++; null if there is none.
py::object written_in_python(py::object resource) {
  for (;;) {
    const auto& types = py::detail::all_type_info(Py_TYPE(resource.ptr()));
    if (types.size() != 1 || types.front()->type != Py_TYPE(resource.ptr())) return resource;
    if (!py::isinstance<CachingMemoryResource>(resource)) return {};
    resource = resource.attr("upstream");
  }
}

}  // namespace

void bind_torch_allocator(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("_torch_slot", py::arg("resources"), py::arg("is_pool"),
             [](const py::list& objects, bool is_pool) {
               std::vector<std::shared_ptr<MemoryResource>> resources;
               for (const py::handle object : objects) {
                 const auto slow =
                     is_pool ? written_in_python(py::reinterpret_borrow<py::object>(object))
                             : py::object();
                 if (slow) {
                   throw py::type_error(
                       "torch_pool: " + type_name(slow) +
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
