// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "bindings/device_object.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/external_memory.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/later.hpp"
#include "bindings/options.hpp"
#include "bindings/recorder.hpp"
#include "bindings/stream_word.hpp"
#include "error/unraisable.hpp"
#include "owner/default_streams.hpp"
#include "owner/owned_handles.hpp"
#include "owner/require_open.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "Device.create_stream() or Stream.from_handle()";

PyObject* record(PyObject* self, const std::array<py::handle, 2>& arguments) {
  const auto& [event, options] = arguments;
  if (event.is_none()) {
    const auto chosen = to_options<EventOptions>(options);
    const Borrowed<Stream> stream(self);
    require_recorded(stream.get());
    return make_object([&] {
      const ReleaseGil release;
      return stream.get().record(chosen);
    }());
  }
  if (get_if<Event>(event.ptr()) == nullptr) {
    refuse_type("Stream.record: event", "an Event or None", event);
  }
  if (!options.is_none()) {
    throw py::value_error("Stream.record: options are for a new event; give one or the other");
  }
  const Borrowed<Stream> stream(self);
  const Borrowed<Event> recorded(event.ptr());
  require_recorded(stream.get());
  {
    const ReleaseGil release;
    stream.get().record(recorded.get());
  }
  return Py_NewRef(event.ptr());
}

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
    if (Recorder::active() == nullptr) return;
    const AcquireGil with_gil;
    require_recorded(waiting);  // it is, if it waited for what is
  };
}

/// The arguments of a callback. A recording has those of the recorded call forever.
py::args callback_arguments(const py::args& given) {
  if (Recorder::active() == nullptr) return given;
  py::tuple values(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const py::object one = given[i];
    values[i] = number_behind(one.ptr()) == nullptr ? one : one.attr("_fix")();
  }
  return py::reinterpret_borrow<py::args>(values);
}

auto add_callback(const Stream& self, py::function callback, const py::args& given) {
  require_recorded(self);
  struct Call {
    py::function function;
    py::args args;

    Call(py::function called, py::args given)
        : function(std::move(called)), args(std::move(given)) {}
  };
  const auto run =
      [call = share_with_gil<const Call>(std::move(callback), callback_arguments(given))] {
        call_from_driver(call->function.ptr(), call->args.ptr());
      };
  return [stream = Stream(self), run] { stream.add_callback(run); };
}

PyObject* enter(PyObject* self, PyObject* /*none*/) {
  return guarded([&]() {
    static_cast<void>(owner::require_open(Borrowed<Stream>(self).get().box(), "Stream"));
    enter_stream(py::reinterpret_borrow<ObjectOf<Stream>>(self), self);
    return Py_NewRef(self);
  });
}

PyObject* exit(PyObject* self, PyObject* const* /*error*/, Py_ssize_t /*count*/) {
  return guarded([&]() -> PyObject* {
    leave_stream(self, "Stream.__exit__");
    Py_RETURN_NONE;
  });
}

PyMethodDef enter_definition = {"__enter__", &enter, METH_NOARGS, "__enter__($self)"};
PyMethodDef exit_definition = {"__exit__",
                               reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&exit)),
                               METH_FASTCALL, "__exit__($self, *args)"};

/// The default streams are shared by everyone, and stay open.
void close(const ObjectOf<Stream>& self) {
  const owner::StreamBox* box = self.value().box().get();
  const bool is_default =
      box != nullptr && box->owner == nullptr && owner::is_default_stream(box->stream);
  if (!is_default) close_object<Stream>(self.ptr());
}

auto create_graph_builder(const Stream& self) {
  make_class("GraphBuilder");
  return [stream = Stream(self)] { return GraphBuilder(stream); };
}

std::string repr(const Stream& self) {
  if (self.is_closed()) return "<Stream, closed>";
  const auto handle = reinterpret_cast<std::uintptr_t>(self.box()->stream);
  if (handle == 1) return "<Stream, legacy default>";
  if (handle == 2) return "<Stream, per-thread default>";
  return "<Stream of device " + std::to_string(self.device().id()) + ">";
}

}  // namespace

void bind_stream(py::module_& module) {
  HeapClass<Stream> bound(module, "cudacore.Stream", refuse_new<how_made>);
  add_stream_words(bound);
  add_external_signals(bound);
  bound
      .def_class("from_handle", quick, py::arg("handle"), py::arg("owner") = py::none(),
                 [](py::handle type, py::handle handle, py::object owner) {
                   const auto address = to_address(handle, "Stream.from_handle: handle");
                   return make_instance(
                       type, Stream::from_handle(
                                 reinterpret_cast<CUstream>(address),
                                 owner.is_none() ? nullptr : keep_alive(std::move(owner))));
                 })
      .def_fast(fast_method<"Stream.record($self, event=None, options=None)", &record>)
      .def("wait", py::arg("event_or_stream"), &wait)
      .def("sync",
           [](const Stream& self) {
             require_recorded(self);
             return [stream = Stream(self)] { stream.sync(); };
           })
      .def("add_callback", py::arg("callback"), &add_callback)
      .def("create_graph_builder", &create_graph_builder)
      .def("close", in_parts, &close)
      .property("is_closed", quick, read<&Stream::is_closed>)
      .property("handle", quick, read<&Stream::handle>)
      .property("is_nonblocking", read<&Stream::is_nonblocking>)
      .property("priority", read<&Stream::priority>)
      .property("attributes", in_parts,
                [](const Stream& self) {
                  make_class("StreamAttributes");
                  return StreamAttributes(self);
                })
      .property("resources", in_parts,
                [](const Stream& self) {
                  make_class("DeviceResources");
                  return DeviceResources(self);
                })
      .property("device", quick,
                [](const Stream& self) { return device_object(self.device().id()); })
      .property("context", quick, read<&Stream::context>)
      .property("is_done", read<&Stream::is_done>)
      .def("__cuda_stream__", quick,
           [](const Stream& self) {
             return py::make_tuple(0, reinterpret_cast<std::uintptr_t>(self.handle()));
           })
      .def_fast(enter_definition)
      .def_fast(exit_definition)
      .def_identity([](const Stream& a, const Stream& b) { return a == b; })
      .def("__repr__", quick, &repr);

  module.attr("LEGACY_DEFAULT_STREAM") = py::cast(Stream::legacy_default());
  module.attr("PER_THREAD_DEFAULT_STREAM") = py::cast(Stream::per_thread_default());
  MethodsWithPolicy<py::module_>(module).def("current_stream", quick, []() {
    PyObject* entered = entered_stream();
    return entered != nullptr ? py::reinterpret_borrow<py::object>(entered)
                              : py::cast(default_stream());
  });
}

}  // namespace cudacore::bindings
