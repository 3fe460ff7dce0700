// SPDX-License-Identifier: Apache-2.0
#include "bindings/device_object.hpp"
#include "bindings/instance.hpp"
#include "bindings/memory_resource_class.hpp"

namespace cudacore::bindings {
namespace {

[[noreturn]] void not_defined(const py::object& self, const char* member) {
  raise_as_both(
      PyExc_NotImplementedError, PyExc_TypeError,
      type_name(self) + " must define " + member + ": MemoryResource itself has no memory");
}

/// MemoryResource.__new__: makes the C++ part too, so that the __init__ of a subclass need not call
/// that of MemoryResource. The classes written in C++ inherit it, and make theirs in __init__.
py::object new_resource(py::handle type, const py::args& args, const py::kwargs& kwargs) {
  auto* wanted = reinterpret_cast<PyTypeObject*>(type.ptr());
  const py::handle base = py::type::handle_of<MemoryResource>();
  if (PyType_Check(type.ptr()) == 0 ||
      PyType_IsSubtype(wanted, reinterpret_cast<PyTypeObject*>(base.ptr())) == 0) {
    throw py::type_error(
        "MemoryResource.__new__: expected MemoryResource or a class derived from it, not " +
        std::string(PyType_Check(type.ptr()) != 0 ? wanted->tp_name
                                                  : "an object of type " + type_name(type)));
  }
  if (type.is(base) && (!args.empty() || !kwargs.empty())) {
    throw py::type_error(
        "MemoryResource takes no arguments: derive from it, and give them to your own __init__");
  }
  py::object made = checked(py::detail::make_new_instance(wanted));
  auto* instance = reinterpret_cast<py::detail::instance*>(made.ptr());
  for (auto& part : py::detail::values_and_holders(instance)) {
    if (part.type == py::detail::get_type_info(typeid(MemoryResource))) {
      part.value_ptr() = static_cast<MemoryResource*>(new PyMemoryResource);
      part.type->init_instance(instance, nullptr);
    }
  }
  return made;
}

void bind_base(py::module_& module, const py::metaclass& metaclass) {
  MethodsWithPolicy<py::class_<MemoryResource, PyMemoryResource, std::shared_ptr<MemoryResource>>>
      type(module, "MemoryResource", metaclass);
  const py::cpp_function create(&new_resource, py::name("__new__"), py::scope(type),
                                "Makes an object of a class; see ``help(type)``.");
  type.attr("__new__") = py::staticmethod(create);
  type.def(py::init<>())
      .def("__reduce__", quick, &refuse_pickle)
      .def("allocate", quick, py::arg("size"), py::kw_only(), py::arg("stream") = py::none(),
           [](const py::object& self, py::handle, py::handle) { not_defined(self, "allocate"); })
      .def("deallocate", quick, py::arg("ptr"), py::arg("size"), py::kw_only(),
           py::arg("stream") = py::none(),
           [](const py::object& self, py::handle, py::handle, py::handle) {
             not_defined(self, "deallocate");
           })
      .property("is_device_accessible", quick,
                [](const py::object& self) { not_defined(self, "is_device_accessible"); })
      .property("is_host_accessible", quick,
                [](const py::object& self) { not_defined(self, "is_host_accessible"); })
      .property("is_managed", quick, [](const py::object&) { return false; })
      .property("device_id", quick, [](const py::object& self) { not_defined(self, "device_id"); });
}

}  // namespace

void refuse_uninitialized(const char* function, py::handle resource) {
  if (!is_initialized(resource)) {
    throw py::value_error(std::string(function) + ": __init__ of this " + type_name(resource) +
                          " was never called");
  }
}

Request::Request(std::string_view what, py::handle bytes, py::handle given_stream)
    : size(to_size(bytes, what)), stream(given_stream) {}

const Stream* stream_at_hand(py::handle given) {
  PyObject* object = given.is_none() ? entered_stream() : given.ptr();
  return object != nullptr ? get_if<Stream>(object) : nullptr;
}

std::shared_ptr<MemoryResource> to_memory_resource(py::handle object) {
  if (!py::isinstance<MemoryResource>(object)) {
    throw py::type_error("expected a MemoryResource, not " + type_name(object));
  }
  refuse_uninitialized("MemoryResource", object);
  // The Python object itself is kept: a subclass's methods live there.
  auto* resource = object.cast<MemoryResource*>();
  return {keep_alive(py::reinterpret_borrow<py::object>(object)), resource};
}

PyObject* allocate_on_device(PyDevice& device, py::handle size, py::handle stream) {
  const Request request("Device.allocate: size", size, stream);
  // A share: the stream's protocol and other threads may set another resource.
  const std::shared_ptr<MemoryResource> resource = resource_of(device);
  return make_buffer(allocate_from(
      *resource, request,
      [&](std::size_t bytes, const Stream& chosen) { return resource->allocate(bytes, chosen); }));
}

void bind_memory_resource(py::module_& module) {
  // Types keep their metaclass alive.
  const py::object type_of_classes = instance_metaclass();
  const py::metaclass metaclass(type_of_classes);
  bind_base(module, metaclass);
  bind_pool_resources(module, metaclass);
  bind_virtual_resource(module, metaclass);
  bind_unpooled_resources(module, metaclass);
  bind_caching_resource(module, metaclass);
  bind_graph_resource(module, metaclass);
}

}  // namespace cudacore::bindings
