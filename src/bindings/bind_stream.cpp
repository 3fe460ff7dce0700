// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "bindings/errors.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/gil.hpp"
#include "bindings/options.hpp"
#include "bindings/values.hpp"
#include "error/unraisable.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

namespace {

constexpr char how_made[] = "Device.create_stream() or Stream.from_handle()";

constexpr char class_name[] = "Stream";

PyObject* record(PyObject* self, const std::array<py::handle, 2>& arguments) {
  const auto& [event, options] = arguments;
  if (event.is_none()) {
    const auto chosen = to_options<EventOptions>(options);
    const Borrowed<Stream> stream(self);
    return make_object([&] {
      const ReleaseGil release;
      return stream.get().record(chosen);
    }());
  }
  if (get_if<Event>(event.ptr()) == nullptr) {
    throw py::type_error("Stream.record: event must be an Event or None, not " + type_name(event));
  }
  if (!options.is_none()) {
    throw py::value_error("Stream.record: options are for a new event; give one or the other");
  }
  const Borrowed<Stream> stream(self);
  const Borrowed<Event> recorded(event.ptr());
  {
    const ReleaseGil release;
    stream.get().record(recorded.get());
  }
  return Py_NewRef(event.ptr());
}

constexpr char record_doc[] =
    "record($self, event=None, options=None)\n--\n\n"
    "Records an event after all work queued so far (cuEventRecord).\n\n"
    "Parameters\n----------\n"
    "event : Event or None\n    The event to record again; a new one where None.\n"
    "options : EventOptions, dict or None\n    How to make a new event.\n\n"
    "Returns\n-------\nEvent\n    The event that was recorded.\n";

auto wait(const Stream& self, py::handle other) {
  if (get_if<Event>(other.ptr()) == nullptr && get_if<Stream>(other.ptr()) == nullptr &&
      attribute_or_none(other, "__cuda_stream__").is_none()) {
    raise_as_both(PyExc_TypeError, PyExc_ValueError,
                  "Stream.wait: event_or_stream must be an Event, a Stream or have "
                  "__cuda_stream__, not " +
                      type_name(other));
  }
  const auto* event = get_if<Event>(other.ptr());
  const std::variant<Event, Stream> awaited =
      event != nullptr ? std::variant<Event, Stream>(*event) : to_stream(other);
  return [waiting = Stream(self), awaited] {
    std::visit([&](const auto& given) { waiting.wait(given); }, awaited);
  };
}

auto add_callback(const Stream& self, py::function callback, const py::args& args) {
  struct Call {
    py::function function;
    py::args args;

    Call(py::function called, const py::args& given) : function(std::move(called)), args(given) {}
  };
  // The call's references are dropped under the GIL, or left behind at interpreter exit.
  const auto drop = [](const Call* done) {
    if (may_take_gil()) {
      const AcquireGil acquire;
      const std::unique_ptr<const Call> dropped(done);
    }
  };
  const std::shared_ptr<const Call> call(
      std::make_unique<const Call>(std::move(callback), args).release(), drop);
  const auto run = [call]() {
    if (!may_take_gil()) return;
    const AcquireGil acquire;
    PyObject* result =
        run_python([&] { return PyObject_CallObject(call->function.ptr(), call->args.ptr()); });
    if (result != nullptr) {
      Py_DECREF(result);
    } else {
      PyErr_WriteUnraisable(call->function.ptr());
      error::count_unraisable();
    }
  };
  return [stream = Stream(self), run] { stream.add_callback(run); };
}

/// The default streams are everybody's, and stay.
void close(const ObjectOf<Stream>& self) {
  const owner::StreamBox* box = self.value().box().get();
  const bool is_default = box != nullptr && box->owner == nullptr &&
                          (box->stream == CU_STREAM_LEGACY || box->stream == CU_STREAM_PER_THREAD);
  if (!is_default) close_object<Stream>(self.ptr());
}

std::string repr(const Stream& self) {
  if (self.is_closed()) return "<Stream, closed>";
  const auto handle = reinterpret_cast<std::uintptr_t>(self.handle());
  if (handle == 1) return "<Stream, legacy default>";
  if (handle == 2) return "<Stream, per-thread default>";
  return "<Stream of device " + std::to_string(self.device().id()) + ">";
}

}  // namespace

void bind_stream(py::module_& module) {
  HeapClass<Stream>(
      module, "cudacore.Stream",
      "An ordered queue of work on one device.\n\n"
      "Made by `Device.create_stream`. ``with stream:`` makes it the thread's current\n"
      "stream, which everything that takes a stream uses when it is given none.\n\n"
      "Examples\n--------\n"
      ">>> dev = cudacore.Device()\n"
      ">>> stream = dev.create_stream()\n"
      ">>> with stream:\n"
      "...     buffer = dev.allocate(1024)\n"
      ">>> stream.sync()\n"
      ">>> stream.is_done\n"
      "True",
      refuse_new<how_made>)
      .def_class(
          "from_handle",
          [](py::handle type, py::handle handle, py::object owner) {
            const auto address = to_address(handle, "Stream.from_handle: handle");
            return make_instance(
                type,
                Stream::from_handle(reinterpret_cast<CUstream>(address),
                                    owner.is_none() ? nullptr : keep_alive(std::move(owner))));
          },
          py::arg("handle"), py::arg("owner") = py::none(), quick,
          "Wraps a cuStream that somebody else owns; it is never destroyed here.\n\n"
          "Parameters\n----------\n"
          "handle : int\n    The CUstream.\n"
          "owner : object\n    Kept alive as long as the stream.\n\n"
          "Returns\n-------\nStream\n    Of the class that it is called on.")
      .def_fast(FastMethod<class_name, record_doc, &record>::definition)
      .def("wait", &wait, py::arg("event_or_stream"),
           "Makes later work of this stream wait for an event's last record, or for all that is "
           "now\n"
           "queued on another stream (cuStreamWaitEvent). The host does not wait.\n\n"
           "Parameters\n----------\n"
           "event_or_stream : Event, Stream or anything with ``__cuda_stream__``")
      .def(
          "sync", [](const Stream& self) { self.sync(); },
          "Waits until all queued work has finished (cuStreamSynchronize); answers Ctrl-C.\n\n"
          "Raises\n------\nLaunchError\n"
          "    A kernel failed; the message names those launched since the last good wait.")
      .def("add_callback", &add_callback, py::arg("callback"),
           "Calls a Python function on a driver thread after all work queued so far\n"
           "(cuLaunchHostFunc). It must not call CUDA. An exception that leaves it is reported by\n"
           "`sys.unraisablehook`.\n\n"
           "Parameters\n----------\n"
           "callback : callable\n*args\n    Given to the callback.")
      .def("close", &close, in_parts,
           "Gives the stream up (cuStreamDestroy); the driver finishes what is queued. Using it "
           "later\n"
           "raises ValueError; closing it again does nothing, nor does closing a default stream.")
      .def_property_readonly("is_closed", read<&Stream::is_closed>, quick, "bool: Whether closed.")
      .def_property_readonly("handle", read<&Stream::handle>, quick, "int: The CUstream.")
      .def_property_readonly("is_nonblocking", read<&Stream::is_nonblocking>,
                             "bool: Whether it does not wait for the legacy default stream.")
      .def_property_readonly("priority", read<&Stream::priority>,
                             "int: The priority in force; lower is more urgent.")
      .def_property_readonly(
          "device", [](const Stream& self) { return device_object(self.device().id()); }, quick,
          "Device: The device its work runs on.")
      .def_property_readonly("context", read<&Stream::context>, quick,
                             "Context: The context its work runs in.")
      .def_property_readonly("is_done", read<&Stream::is_done>,
                             "bool: Whether all queued work has finished (cuStreamQuery).")
      .def(
          "__cuda_stream__",
          [](const Stream& self) {
            return py::make_tuple(0, reinterpret_cast<std::uintptr_t>(self.handle()));
          },
          quick, "The stream protocol: (0, address).")
      .def(
          "__enter__",
          [](const ObjectOf<Stream>& self) {
            static_cast<void>(self.value().handle());
            enter_stream(self);
            return self;
          },
          quick)
      .def(
          "__exit__", [](const ObjectOf<Stream>& self, const py::args&) { leave_stream(self); },
          in_parts)
      .def_identity([](const Stream& a, const Stream& b) { return a == b; })
      .def("__repr__", &repr, quick);

  module.attr("LEGACY_DEFAULT_STREAM") = py::cast(Stream::legacy_default());
  module.attr("PER_THREAD_DEFAULT_STREAM") = py::cast(Stream::per_thread_default());
  Policied<py::module_>(module).def(
      "current_stream",
      []() {
        PyObject* entered = entered_stream();
        return entered != nullptr ? py::reinterpret_borrow<py::object>(entered)
                                  : py::cast(default_stream());
      },
      quick,
      "The thread's current stream: set by ``with stream:``, else the legacy default stream.\n\n"
      "Returns\n-------\nStream");
}

}  // namespace cudacore::bindings
