// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "bindings/borrowed_buffers.hpp"
#include "bindings/conversions.hpp"
#include "bindings/recorded_function.hpp"
#include "bindings/stand_in.hpp"
#include "runtime/context_call.hpp"

// The recorders of calls of recorded functions: from what stands in for the arguments to the
// recording.

namespace cudacore::bindings {
namespace {

using Function = RecordedFunction::Box;

/// A recorder as Python sees it, and what the call was.
struct RecorderObject {
  std::shared_ptr<Recorder> recorder;
  std::shared_ptr<Function> function;
  py::object args;
  py::object keywords;
};

constexpr char how_recorder_is_made[] = "cudacore.graph(function)";

PyObject* const* items_of(const py::object& tuple) noexcept {
  return PySequence_Fast_ITEMS(tuple.ptr());
}

const RecorderObject& recorder_of(py::handle self) noexcept {
  return *get_if<RecorderObject>(self.ptr());
}

py::tuple stand_ins(py::handle self) {
  const Recorder& recorder = *recorder_of(self).recorder;
  py::tuple objects(recorder.stand_ins.size());
  for (std::size_t i = 0; i < objects.size(); ++i) objects[i] = recorder.stand_ins[i].object;
  return objects;
}

/// A builder on a stream of its own, so that nobody else's work is captured.
GraphBuilder make_builder() {
  return with_current_stream([](const Stream& current) {
    return without_gil([stream = current] {
      return GraphBuilder(Stream(
          stream.context(), StreamOptions{.nonblocking = true, .priority = stream.priority()}));
    });
  });
}

void begin(py::handle self) {
  with_current_stream([&](const Stream& stream) { recorder_of(self).recorder->begin(stream); });
}

void end(py::handle self) { recorder_of(self).recorder->end(); }

/// Stand-ins that the function has kept can't be used any more.
void close(py::handle self) {
  const std::shared_ptr<Recorder> recorder = recorder_of(self).recorder;
  recorder->end();
  close_stand_ins(std::exchange(recorder->stand_ins, {}));
}

/// Which arguments a function returned.
std::uint32_t result_index(const Recorder& recorder, const Function& function, py::handle result) {
  for (std::size_t i = 0; i < recorder.stand_ins.size(); ++i) {
    if (recorder.stand_ins[i].object.ptr() == result.ptr()) return static_cast<std::uint32_t>(i);
  }
  throw py::type_error(function.name + " returns " + type_with_article(result) +
                       ": a recorded function returns None, arguments of its own, or a tuple of "
                       "these; let it write into an argument");
}

void note_results(Recording& recording, const Recorder& recorder, const Function& function,
                  const py::object& result) {
  if (result.is_none()) return;
  recording.returns_tuple = PyTuple_CheckExact(result.ptr()) != 0 && !recorder.is_stand_in(result);
  if (!recording.returns_tuple) {
    recording.results.push_back(result_index(recorder, function, result));
    return;
  }
  for (const py::handle one : py::reinterpret_borrow<py::tuple>(result)) {
    recording.results.push_back(result_index(recorder, function, one));
  }
}

std::vector<Guard> to_guards(const py::sequence& given) {
  std::vector<Guard> guards;
  for (const py::handle one : given) {
    const auto parts = py::reinterpret_borrow<py::tuple>(one);
    Guard guard{static_cast<Guard::Kind>(parts[0].cast<int>()), parts[1], parts[2]};
    if (parts.size() == 4) guard.expected = parts[3];
    guards.push_back(std::move(guard));
  }
  return guards;
}

/// Gives each value of a replay its index: the addresses, then the numbers whose values were not
/// used.
void assign_indices(Recording& recording, Recorder& recorder) {
  for (std::size_t i = 0; i < recorder.arguments.size(); ++i) {
    RecordedArgument& argument = recorder.arguments[i];
    const Recorder::StandIn& made = recorder.stand_ins[i];
    if (argument.form == RecordedArgument::Form::number) {
      const py::object used = made.object.attr("_fixed_at");
      if (used.is_none()) continue;
      argument.form = RecordedArgument::Form::constant;
      argument.fixed_at = used.cast<std::string>();
    } else if (made.memory != nullptr && argument.same_memory_as == RecordedArgument::none) {
      argument.value_index = static_cast<std::uint32_t>(recording.address_count++);
    }
  }
  std::vector<std::uint32_t> indices(recorder.numbers.size(), RecordedArgument::none);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const ReplayedNumber& number = recorder.numbers[i];
    if (recorder.arguments[number.argument].form != RecordedArgument::Form::number) continue;
    indices[i] = static_cast<std::uint32_t>(recording.address_count + recording.numbers.size());
    recording.numbers.push_back(number);
  }
  for (CapturedLaunch& launch : recorder.launches) {
    for (CapturedLaunch::Number& number : launch.numbers)
      number.value_index = indices[number.value_index];
    std::erase_if(launch.numbers, [](const CapturedLaunch::Number& number) {
      return number.value_index == RecordedArgument::none;
    });
  }
}

/// The addresses that stood in for the arguments whose addresses change.
std::vector<StandInRange> stand_in_ranges(const Recorder& recorder) {
  std::vector<StandInRange> ranges;
  for (std::size_t i = 0; i < recorder.arguments.size(); ++i) {
    const Recorder::StandIn& made = recorder.stand_ins[i];
    const RecordedArgument& argument = recorder.arguments[i];
    if (argument.value_index == RecordedArgument::none) continue;
    ranges.push_back({made.memory->begin(), made.memory->end(), made.base, argument.value_index});
  }
  return ranges;
}

bool has_foreign_kernels(py::handle self, const GraphDefinition& given) {
  const std::shared_ptr<Recorder> recorder = recorder_of(self).recorder;
  return without_gil([recorder, definition = GraphDefinition(given)] {
    return RecordedGraph::has_foreign_kernels(definition, recorder->launches);
  });
}

void keep(py::handle self, py::object used) {
  recorder_of(self).recorder->kept.push_back(keep_alive(std::move(used)));
}

/// The same for a second capture of the call, which must use the same values.
void assign_same_indices(const Recording& first, Recorder& second, const std::string& name) {
  Recording numbered;
  assign_indices(numbered, second);
  bool is_same = numbered.address_count == first.address_count &&
                 numbered.numbers.size() == first.numbers.size() &&
                 second.arguments.size() == first.arguments.size();
  for (std::size_t i = 0; is_same && i < second.arguments.size(); ++i) {
    is_same = second.arguments[i].form == first.arguments[i].form &&
              second.arguments[i].value_index == first.arguments[i].value_index;
  }
  for (std::size_t i = 0; is_same && i < numbered.numbers.size(); ++i) {
    is_same = numbered.numbers[i].argument == first.numbers[i].argument &&
              numbered.numbers[i].slot.kind == first.numbers[i].slot.kind &&
              numbered.numbers[i].slot.size == first.numbers[i].slot.size;
  }
  if (!is_same) throw NotSupportedError(name + ": a second run of it uses its arguments otherwise");
}

void require_open_stand_ins(const Recorder& recorder, const Function& function) {
  for (std::size_t i = 0; i < recorder.stand_ins.size(); ++i) {
    if (!is_closed(recorder.stand_ins[i])) continue;
    throw NotSupportedError(function.name + " cannot be recorded: it closes its argument " +
                            std::to_string(i + 1) + ", which a replay would not; close it outside");
  }
}

/// Adds the recording of a complete capture, and perhaps of a second one of the same call, and
/// launches it. Returns whether another recording was dropped for it, how many were dropped since
/// no call fitted them any more, if there are many, and what the function returns.
py::tuple finish(py::handle self, const GraphDefinition& given_definition, const py::object& result,
                 const py::sequence& guards, const py::object& second_object,
                 const py::object& second_definition) {
  const RecorderObject& object = recorder_of(self);
  const std::shared_ptr<Function> function = object.function;
  Recorder& recorder = *object.recorder;
  require_open_stand_ins(recorder, *function);
  recorder.require_unchanged_sources();
  auto recording = std::make_shared<Recording>();
  note_results(*recording, recorder, *function, result);
  recording->guards = to_guards(guards);
  recording->keywords = object.keywords;
  assign_indices(*recording, recorder);
  recording->arguments = recorder.arguments;
  const std::vector<StandInRange> ranges = stand_in_ranges(recorder);
  RecordedCapture capture{given_definition, ranges, recorder.launches};
  std::optional<RecordedCapture> second_capture;
  std::vector<StandInRange> second_ranges;
  if (!second_object.is_none()) {
    Recorder& second = *recorder_of(second_object).recorder;
    assign_same_indices(*recording, second, function->name);
    second_ranges = stand_in_ranges(second);
    second_capture.emplace(RecordedCapture{py::cast<GraphDefinition>(second_definition),
                                           second_ranges, second.launches});
  }
  return with_current_stream([&](const Stream& stream) {
    const owner::StreamBox& queue = open_queue(*function, stream);
    const Recording::Contexts contexts = contexts_of(queue);
    recording->contexts = contexts;
    recording->context = queue.work_context();
    const CallArguments given(items_of(object.args), PyTuple_GET_SIZE(object.args.ptr()),
                              queue.stream);
    const BorrowedBuffers borrowed(items_of(object.args), PyTuple_GET_SIZE(object.args.ptr()));
    for (std::size_t i = 0; second_capture && i < given.size(); ++i) {
      RecordedArgument& argument = recording->arguments[i];
      argument.alignment = StandInMemory::alignment;
      argument.offset = given[i].address % argument.alignment;
    }
    if (!recording->fits(given, object.keywords.ptr(), contexts)) {
      throw std::runtime_error(function->name +
                               ": its arguments, or variables that it reads, changed while it was "
                               "recorded");
    }
    LaunchArrays arrays(queue, recording->context);
    std::vector<std::uint64_t> values(recording->address_count + recording->numbers.size());
    recording->write_values(given, arrays, values);
    recording->graph = without_gil([&] {
      const ContextCall call(recording->context);
      return std::make_shared<RecordedGraph>(capture, second_capture ? &*second_capture : nullptr,
                                             values, std::move(recorder.kept));
    });
    std::vector<std::shared_ptr<Recording>> dropped = take_dead_recordings(*function);
    function->dead_recordings += dropped.size();
    const std::size_t dead = function->dead_recordings >= function->max_recordings
                                 ? std::exchange(function->dead_recordings, 0)
                                 : 0;
    bool is_full = false;
    // Another thread may have recorded the same meanwhile.
    if (const auto other = find_recording(*function, given, object.keywords.ptr(), contexts)) {
      recording = other;
    } else {
      auto& all = function->recordings;
      all.insert(all.begin(), recording);
      is_full = all.size() > function->max_recordings;
      if (is_full) {
        dropped.push_back(std::move(all.back()));
        all.pop_back();
      }
    }
    return py::make_tuple(is_full, dead,
                          checked(launch_recording(*function, recording, stream, given)));
  });
}

int call_profiler(PyObject* profiler, PyFrameObject* frame, int what, PyObject* argument) {
  constexpr std::array names{"call",   "exception",   "line",    "return",
                             "c_call", "c_exception", "c_return"};
  PyObject* result = PyObject_CallFunction(profiler, "OsO", reinterpret_cast<PyObject*>(frame),
                                           names.at(static_cast<std::size_t>(what)),
                                           argument != nullptr ? argument : Py_None);
  if (result == nullptr) {
    PyEval_SetProfile(nullptr, nullptr);
    return -1;
  }
  Py_DECREF(result);
  return 0;
}

/// sys.setprofile(), but calls the profiler without copying the variables of each frame back and
/// forth: up to CPython 3.12, that undoes what other threads assign meanwhile to variables of
/// enclosing functions.
void set_profiler(const py::object& profiler) {
  PyEval_SetProfile(&call_profiler, profiler.ptr());
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
}

}  // namespace

py::object make_recorder(py::handle self, const py::tuple& args, const py::tuple& keywords,
                         const py::tuple& labels, const py::object& make_number,
                         const py::object& make_array) {
  const std::shared_ptr<Function> function = get_if<RecordedFunction>(self.ptr())->box;
  return with_current_stream([&](const Stream& stream) {
    const owner::StreamBox& queue = open_queue(*function, stream);
    const CallArguments given(items_of(args), args.size(), queue.stream);
    std::vector<RecordedArgument> arguments;
    for (std::size_t i = 0; i < given.size(); ++i) {
      arguments.emplace_back(given[i], function->name + ": " + labels[i].cast<std::string>());
      RecordedArgument& argument = arguments.back();
      argument.same_memory_as = earlier_same_memory(given, i);
      if (argument.form == RecordedArgument::Form::number && make_number.is_none()) {
        argument.form = RecordedArgument::Form::constant;
        argument.fixed_at = "a call that takes no other number";
      }
    }
    auto recorder = std::make_shared<Recorder>(function->name, std::move(arguments));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const RecordedArgument& argument = recorder->arguments[i];
      recorder->stand_ins.push_back(
          argument.same_memory_as != RecordedArgument::none
              ? recorder->stand_ins[argument.same_memory_as]
              : make_stand_in(given[i], argument, make_number, make_array, queue.stream));
    }
    return py::reinterpret_steal<py::object>(
        make_object(RecorderObject{std::move(recorder), function, args, keywords}));
  });
}

void bind_recorder(py::module_& module) {
  MethodsWithPolicy<py::module_>(module).def(
      "_set_profiler", in_parts, py::arg("profiler"),
      [](const py::object& profiler) { set_profiler(profiler); });
  HeapClass<RecorderObject>(module, "cudacore._Recorder", refuse_new<how_recorder_is_made>)
      .property("stand_ins", quick, &stand_ins)
      .def("builder", in_parts, [](py::handle /*self*/) { return make_builder(); })
      .def("begin", quick, &begin)
      .def("end", quick, &end)
      .def("close", in_parts, &close)
      .def("has_foreign_kernels", in_parts, py::arg("definition"), &has_foreign_kernels)
      .def("keep", quick, py::arg("used"), &keep)
      .def("finish", in_parts, py::arg("definition"), py::arg("result"), py::arg("guards"),
           py::arg("second"), py::arg("second_definition"), &finish);
}

}  // namespace cudacore::bindings
