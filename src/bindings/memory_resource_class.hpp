// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <typeinfo>

#include "bindings/entered_streams.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/managed_buffer.hpp"
#include "bindings/python_resource.hpp"
#include "owner/owned_handles.hpp"

// What the classes of memory resources that are written in C++ have in common.

namespace cudacore::bindings {

template <typename T, typename Base>
using ResourceClass = MethodsWithPolicy<py::class_<T, Base, std::shared_ptr<T>>>;

/// Refuses an object whose __init__ was never called.
void refuse_uninitialized(const char* function, py::handle resource);

/// The arguments of allocate().
struct Request {
  std::size_t size = 0;
  py::handle stream;

  /// `what` is "MemoryResource.allocate: size", for messages.
  Request(std::string_view what, py::handle bytes, py::handle given_stream);
};

/// The value of a Stream object that was given or entered; null for everything else.
[[nodiscard]] const Stream* stream_at_hand(py::handle given);

/// `resource` must be held by the caller: a foreign stream's protocol runs Python code.
template <typename Allocate>
Buffer allocate_from(MemoryResource& resource, const Request& request, const Allocate& allocate) {
  if (const Stream* at_hand = stream_at_hand(request.stream)) {
    if (auto cached = resource.try_allocate(request.size, *at_hand)) return *std::move(cached);
  }
  const Stream stream = to_stream(request.stream, resource.device_id());
  if (auto cached = resource.try_allocate(request.size, stream)) return *std::move(cached);
  const ReleaseGil release;  // a pool that grows may wait for the device
  return allocate(request.size, stream);
}

/// allocate(size, *, stream=None) of a class T: the instance is known to hold a T.
template <typename T>
PyObject* allocate(PyObject* self, const std::array<py::handle, 2>& arguments) {
  refuse_uninitialized("MemoryResource.allocate", self);
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  // A class in Python may have several bases, each with a part of its own.
  const auto* type = instance->simple_layout ? nullptr : py::detail::get_type_info(typeid(T), true);
  auto* resource = static_cast<T*>(instance->get_value_and_holder(type).value_ptr());
  const Request request("MemoryResource.allocate: size", arguments[0], arguments[1]);
  Buffer made = allocate_from(*resource, request, [&](std::size_t size, const Stream& stream) {
    return resource->T::allocate(size, stream);  // not what a subclass makes of it
  });
  // The memory returns to the Python object, whose class may define deallocate().
  if constexpr (std::is_same_v<T, DeviceMemoryResource>) {
    if (typeid(*resource) == typeid(PyDeviceMemoryResource)) {
      made.box()->resource = to_memory_resource(self);
    }
  }
  if constexpr (std::is_same_v<T, ManagedMemoryResource>) {
    return make_object(std::move(made), managed_buffer_type);
  } else {
    return make_object(std::move(made));
  }
}

/// Binds what every class written in C++ has.
template <typename T, typename Class>
void add_members(Class& type) {
  PyMethodDef& definition =
      fast_method<"MemoryResource.allocate($self, size, *, stream=None)", &allocate<T>>;
  document(definition, type);
  type.attr("allocate") =
      checked(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &definition));
  type.def("deallocate", py::arg("ptr"), py::arg("size"), py::kw_only(),
           py::arg("stream") = py::none(),
           [](T& self, py::handle pointer, std::size_t size, py::handle stream) {
             const auto address = to_address(pointer, "MemoryResource.deallocate: ptr");
             return [&self, address, size, given = to_optional_stream(stream)] {
               self.T::deallocate(address, size, given);  // not a subclass's own
             };
           })
      .property("is_device_accessible", quick,
                [](const T& self) { return self.is_device_accessible(); })
      .property("is_host_accessible", quick,
                [](const T& self) { return self.is_host_accessible(); })
      .property("is_managed", quick, [](const T& self) { return self.is_managed(); })
      .property("device_id", quick, [](const T& self) { return self.device_id(); })
      .def("__repr__", quick, [](const py::object& self) {
        const int device = py::cast<const T&>(self).device_id();
        const std::string name = py::str(py::type::of(self).attr("__name__"));
        return "<" + name + (device < 0 ? ">" : " of device " + std::to_string(device) + ">");
      });
}

void bind_caching_resource(py::module_& module, const py::metaclass& metaclass);
void bind_graph_resource(py::module_& module, const py::metaclass& metaclass);
void bind_pool_resources(py::module_& module, const py::metaclass& metaclass);
void bind_unpooled_resources(py::module_& module, const py::metaclass& metaclass);
void bind_virtual_resource(py::module_& module, const py::metaclass& metaclass);

}  // namespace cudacore::bindings
