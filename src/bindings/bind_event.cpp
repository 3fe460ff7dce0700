// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "bindings/fast_method.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

constexpr char how_made[] = "Device.create_event() or Stream.record()";

constexpr char class_name[] = "Event";

PyObject* close(PyObject* self, const std::array<py::handle, 0>& /*arguments*/) {
  close_object<Event>(self);
  Py_RETURN_NONE;
}

constexpr char close_doc[] =
    "close($self)\n--\n\n"
    "Gives the event up (cuEventDestroy), or keeps it for the next that is made.\n"
    "Using it later raises ValueError; closing it again does nothing.";

PyObject* subtract(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    const Event* start = get_if<Event>(other);
    if (start == nullptr) Py_RETURN_NOTIMPLEMENTED;
    const Event& end = *get_if<Event>(self);
    return PyFloat_FromDouble(runtime_error_too([&] { return end.elapsed_since(*start); }));
  });
}

PyMethodDef subtract_definition = {
    "__sub__", &subtract, METH_O,
    "__sub__($self, other, /)\n--\n\n"
    "Milliseconds from the other event to this one (cuEventElapsedTime).\n\n"
    "Raises\n------\nValueError\n"
    "    (and RuntimeError) Where either has no timing, was never recorded, or is not done."};

}  // namespace

void bind_event(py::module_& module) {
  HeapClass<Event>(
      module, "cudacore.Event",
      "A point in a stream's work that can be waited for and timed.\n\n"
      "Made by `Device.create_event` or `Stream.record`. The difference of two events\n"
      "with ``timing_enabled`` is the time between them in milliseconds.\n\n"
      "Examples\n--------\n"
      ">>> dev = cudacore.Device()\n"
      ">>> stream = dev.create_stream()\n"
      ">>> start = stream.record(options={\"timing_enabled\": True})\n"
      ">>> end = stream.record(options={\"timing_enabled\": True})\n"
      ">>> end.sync()\n"
      ">>> end - start >= 0.0\n"
      "True",
      refuse_new<how_made>)
      .def_fast(FastMethod<class_name, close_doc, &close>::definition)
      .def_property_readonly("is_closed", read<&Event::is_closed>, quick, "bool: Whether closed.")
      .def_property_readonly("handle", read<&Event::handle>, quick, "int: The CUevent.")
      .def_property_readonly("is_timing_enabled", read<&Event::is_timing_enabled>, quick,
                             "bool: Whether it can be subtracted from another.")
      .def_property_readonly(
          "is_blocking_sync", read<&Event::is_blocking_sync>, quick,
          "bool: Whether a waiting thread sleeps at once instead of spinning first.")
      .def_property_readonly(
          "is_ipc_enabled", [](const Event&) { return false; }, quick,
          "bool: Always False: sharing events between processes is not supported yet.")
      .def_property_readonly(
          "is_done", read<&Event::is_done>, quick,
          "bool: Whether the work before the last record has finished (cuEventQuery).")
      .def_property_readonly(
          "device", [](const Event& self) { return device_object(self.device().id()); }, quick,
          "Device: The device it belongs to.")
      .def_property_readonly("context", read<&Event::context>, quick,
                             "Context: The context it belongs to.")
      .def(
          "sync", [](const Event& self) { self.sync(); },
          "Waits for the work before the last record; answers Ctrl-C.")
      .def_fast(subtract_definition)
      .def(
          "__enter__", [](py::object self) { return self; }, quick)
      .def(
          "__exit__",
          [](const ObjectOf<Event>& self, const py::args&) { close_object<Event>(self.ptr()); },
          in_parts)
      .def_identity([](const Event& a, const Event& b) { return a.box() == b.box(); })
      .def(
          "__repr__",
          [](const Event& self) {
            return self.is_closed() ? std::string("<Event, closed>")
                                    : "<Event of device " + std::to_string(self.device().id()) +
                                          (self.is_timing_enabled() ? ", timing>" : ">");
          },
          quick);
}

}  // namespace cudacore::bindings
