// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/fast_method.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "Device.create_event() or Stream.record()";

PyObject* close(PyObject* self, const std::array<py::handle, 0>& /*arguments*/) {
  close_object<Event>(self);
  Py_RETURN_NONE;
}

PyObject* subtract(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    const Event* start = get_if<Event>(other);
    if (start == nullptr) Py_RETURN_NOTIMPLEMENTED;
    const Event& end = *get_if<Event>(self);
    return PyFloat_FromDouble(runtime_error_too([&] { return end.elapsed_since(*start); }));
  });
}

PyMethodDef subtract_definition = {"__sub__", &subtract, METH_O, "__sub__($self, other, /)"};

}  // namespace

void bind_event(py::module_& module) {
  HeapClass<Event>(module, "cudacore.Event", refuse_new<how_made>)
      .def_fast(fast_method<"Event.close($self)", &close>)
      .property("is_closed", quick, read<&Event::is_closed>)
      .property("handle", quick, read<&Event::handle>)
      .property("is_timing_enabled", quick, read<&Event::is_timing_enabled>)
      .property("is_blocking_sync", quick, read<&Event::is_blocking_sync>)
      .property("is_ipc_enabled", quick, [](const Event&) { return false; })
      .property("is_done", quick, read<&Event::is_done>)
      .property("device", quick,
                [](const Event& self) { return device_object(self.device().id()); })
      .property("context", quick, read<&Event::context>)
      .def("sync", [](const Event& self) { self.sync(); })
      .def_fast(subtract_definition)
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<Event>& self, const py::args&) { close_object<Event>(self.ptr()); })
      .def_identity([](const Event& a, const Event& b) { return a.box() == b.box(); })
      .def("__repr__", quick, [](const Event& self) {
        return self.is_closed() ? std::string("<Event, closed>")
                                : "<Event of device " + std::to_string(self.device().id()) +
                                      (self.is_timing_enabled() ? ", timing>" : ">");
      });
}

}  // namespace cudacore::bindings
