// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/recorder.hpp"

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

/// The part of sharing that is written in Python.
py::module_ event_sharing() { return py::module_::import("cudacore._ipc"); }

py::tuple share_event(const Event& self) {
  const EventShare share = without_gil([kept = self] { return kept.share(); });
  return py::make_tuple(
      py::bytes(reinterpret_cast<const char*>(share.handle.data()), share.handle.size()),
      share.blocking_sync);
}

auto open_shared_event(const py::bytes& handle, bool blocking_sync) {
  EventShare share;
  const std::string_view bytes(handle);
  if (bytes.size() != share.handle.size()) {
    throw py::value_error("a damaged descriptor of an event: it has " +
                          std::to_string(bytes.size()) + " bytes");
  }
  std::memcpy(share.handle.data(), bytes.data(), bytes.size());
  share.blocking_sync = blocking_sync;
  return [share] { return Event::open_shared(Context::current(), share); };
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
      .property("is_ipc_enabled", quick, read<&Event::is_ipc_enabled>)
      .property(
          "ipc_descriptor", in_parts,
          [](const py::object& self) { return event_sharing().attr("descriptor_of_event")(self); })
      .def_static("from_ipc_descriptor", in_parts, py::arg("ipc_descriptor"),
                  [](const py::object& descriptor) {
                    return event_sharing().attr("event_from")(descriptor);
                  })
      .def("__reduce__", in_parts,
           [](const py::object& self) { return event_sharing().attr("reduce_event")(self); })
      .def("_share", in_parts, &share_event)
      .def_static("_open_shared", py::arg("handle"), py::arg("blocking_sync"), &open_shared_event)
      .property("is_done", quick, read<&Event::is_done>)
      .property("device", quick,
                [](const Event& self) { return device_object(self.device().id()); })
      .property("context", quick, read<&Event::context>)
      .def("sync",
           [](const Event& self) {
             require_no_recording("the host waits for an event");
             self.sync();
           })
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
