// SPDX-License-Identifier: Apache-2.0
#include "bindings/borrowed_buffers.hpp"
#include "bindings/conversions.hpp"
#include "bindings/recorded_function.hpp"
#include "bindings/traced_launches.hpp"
#include "owner/captures.hpp"

// Recorded functions. cudacore.graph, in Python, calls the function and shows what is recorded;
// here are the choice of a recording and its launch.

namespace cudacore::bindings {
namespace {

using Function = RecordedFunction::Box;

constexpr char how_function_is_made[] = "cudacore.graph(function)";

PyObject* replay(const std::shared_ptr<Function>& function, const Stream& stream,
                 PyObject* const* args, std::size_t count, PyObject* names) {
  const owner::StreamBox& queue = open_queue(*function, stream);
  const CallArguments given(args, count, queue.stream);
  const BorrowedBuffers borrowed(args, count);
  const std::shared_ptr<Recording> recording =
      find_recording(*function, given, names, contexts_of(queue));
  if (recording == nullptr) return Py_NewRef(Py_NotImplemented);
  return launch_recording(*function, recording, stream, given);
}

/// Whether a call runs the function itself: its work becomes part of something else, or is left
/// out.
bool runs_plainly(const Function& function, const Stream& stream) {
  if (is_tracing()) return true;
  if (!owner::may_be_capturing()) [[likely]]
    return false;
  if (owner::is_captured(open_queue(function, stream))) return true;
  if (const Recorder* recorder = Recorder::active()) {
    recorder->require_captured(open_queue(function, stream));
  }
  return false;
}

/// function(*args, **kwargs): NotImplemented if there is no recording.
PyObject* call_recorded(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const std::shared_ptr<Function> function = get_if<RecordedFunction>(self)->box;
    const auto positional = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    const auto named = static_cast<std::size_t>(names == nullptr ? 0 : PyTuple_GET_SIZE(names));
    return with_current_stream([&](const Stream& stream) -> PyObject* {
      if (runs_plainly(*function, stream)) [[unlikely]] {
        return PyObject_Vectorcall(function->function.ptr(), args, flags, names);
      }
      return replay(function, stream, args, positional + named, names);
    });
  });
}

PyObject* call_recorded_method(PyObject* self, PyObject* const* args, Py_ssize_t count,
                               PyObject* names) {
  return call_recorded(self, args, static_cast<std::size_t>(count), names);
}

PyMethodDef call_recorded_definition[] = {
    {"__call__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call_recorded_method)),
     METH_FASTCALL | METH_KEYWORDS | METH_COEXIST, "__call__($self, /, *args, **kwargs)"},
    {nullptr, nullptr, 0, nullptr},
};

py::list show_recordings(py::handle self) {
  py::list shown_all;
  const std::shared_ptr<Function> function = get_if<RecordedFunction>(self.ptr())->box;
  const std::vector<std::shared_ptr<Recording>> recordings = function->recordings;
  for (const std::shared_ptr<Recording>& recording : recordings) {
    py::tuple texts(recording->arguments.size());
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = recording->arguments[i].text();
    shown_all.append(py::make_tuple(texts, recording->graph->node_count(),
                                    recording->graph->changing_nodes(), recording->launch_count));
  }
  return shown_all;
}

void clear(py::handle self) {
  const auto ended = std::exchange(get_if<RecordedFunction>(self.ptr())->box->recordings, {});
}

}  // namespace

void bind_recorded_function(py::module_& module) {
  bind_recorder(module);
  HeapClass<RecordedFunction>(module, "cudacore._RecordedFunction",
                              refuse_new<how_function_is_made>, &call_recorded,
                              call_recorded_definition)
      .def_static(
          "create", quick, py::arg("function"), py::arg("name"), py::arg("max_recordings"),
          [](py::object function, std::string name, std::size_t max_recordings) {
            auto box = std::make_shared<Function>();
            box->function = std::move(function);
            box->name = std::move(name);
            box->max_recordings = max_recordings;
            return py::reinterpret_steal<py::object>(make_object(RecordedFunction{std::move(box)}));
          })
      .def("recorder", in_parts, py::arg("args"), py::arg("keywords"), py::arg("labels"),
           py::arg("make_number"), py::arg("make_array"), &make_recorder)
      .property("recordings", quick, &show_recordings)
      .def("clear", quick, &clear);
}

}  // namespace cudacore::bindings
