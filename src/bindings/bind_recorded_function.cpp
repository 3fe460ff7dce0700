// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "bindings/borrowed_buffers.hpp"
#include "bindings/conversions.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/recording.hpp"
#include "bindings/stand_in.hpp"
#include "bindings/traced_launches.hpp"
#include "runtime/context_call.hpp"

// Recorded functions. cudacore.graph, in Python, calls the function and shows what is recorded;
// here are the choice of a recording and its launch, and what the recorder of a call does.

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

constexpr char how_function_is_made[] = "cudacore.graph(function)";

PyObject* const* items_of(const py::object& tuple) noexcept {
  return PySequence_Fast_ITEMS(tuple.ptr());
}

/// Calls `use` with a share of the current stream, which a graph may keep.
template <typename Use>
auto with_current_stream(const Use& use) {
  PyObject* entered = entered_stream();
  const Stream stream = entered != nullptr ? *get_if<Stream>(entered) : default_stream();
  return use(stream);
}

const owner::StreamBox& open_queue(const Function& function, const Stream& stream) {
  if (stream.box() == nullptr) {
    throw std::invalid_argument(function.name + ": the current stream is closed");
  }
  return *stream.box();
}

void drop(Function& function, const std::shared_ptr<Recording>& recording) {
  const auto found = std::find(function.recordings.begin(), function.recordings.end(), recording);
  if (found != function.recordings.end()) function.recordings.erase(found);
}

/// Where a call queues work, and what it finds as the current context.
Recording::Place place_of(const owner::StreamBox& queue) {
  const error::ContextBox* context = queue.work_context().get();
  // The default stream is that of the current context.
  return {context, entered_stream() == nullptr ? context : error::current_context().get()};
}

/// The recording that fits, which becomes the first; null if there is none. May run Python code,
/// which may change the list: a module may have keys that aren't strings.
std::shared_ptr<Recording> find(Function& function, const GivenArguments& given, PyObject* names,
                                const Recording::Place& place) {
  auto& all = function.recordings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::shared_ptr<Recording> recording = all[i];
    if (!recording->fits(given, names, place)) continue;
    const auto found = std::find(all.begin(), all.end(), recording);
    if (found != all.end()) std::rotate(all.begin(), found, found + 1);
    return recording;
  }
  return nullptr;
}

/// Launches a recording that fits; returns what the function returned.
PyObject* launch(Function& function, const std::shared_ptr<Recording>& recording,
                 const Stream& stream, const GivenArguments& given) {
  const owner::StreamBox& queue = open_queue(function, stream);
  LaunchArrays arrays(queue, queue.work_context());
  try {
    recording->launch(stream, given, arrays);
  } catch (...) {
    if (recording->graph->is_broken()) drop(function, recording);
    throw;
  }
  return recording->result(given);
}

PyObject* replay(const std::shared_ptr<Function>& function, const Stream& stream,
                 PyObject* const* args, std::size_t count, PyObject* names) {
  const owner::StreamBox& queue = open_queue(*function, stream);
  const GivenArguments given(args, count, queue.stream);
  const BorrowedBuffers borrowed(args, count);
  const std::shared_ptr<Recording> recording = find(*function, given, names, place_of(queue));
  if (recording == nullptr) return Py_NewRef(Py_NotImplemented);
  return launch(*function, recording, stream, given);
}

/// Drops the recordings that no call fits any more: nothing but recordings has an object that must
/// be found. Returns them, to be dropped when the list may change.
std::vector<std::shared_ptr<Recording>> take_dead(Function& function) {
  std::unordered_map<PyObject*, Py_ssize_t> held;
  for (const auto& recording : function.recordings) recording->count_held(held);
  std::vector<std::shared_ptr<Recording>> dead;
  std::erase_if(function.recordings, [&](const std::shared_ptr<Recording>& recording) {
    if (!recording->is_dead(held)) return false;
    dead.push_back(recording);
    return true;
  });
  return dead;
}

/// Whether work on the current stream becomes part of something else, or is left out.
bool is_part_of_more(const Function& function, const Stream& stream) {
  if (is_tracing()) return true;
  if (!owner::may_be_capturing()) [[likely]]
    return false;
  if (owner::is_captured(open_queue(function, stream))) return true;
  if (const Recorder* recorder = Recorder::active()) {
    recorder->require_recorded(open_queue(function, stream));
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
      if (is_part_of_more(*function, stream)) [[unlikely]] {
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

/// A recorder of a call: `labels` name its arguments. With `make_number` None, numbers are taken as
/// they are.
py::object make_recorder(py::handle self, const py::tuple& args, const py::tuple& keywords,
                         const py::tuple& labels, const py::object& make_number,
                         const py::object& make_array) {
  const std::shared_ptr<Function> function = get_if<RecordedFunction>(self.ptr())->box;
  return with_current_stream([&](const Stream& stream) {
    const owner::StreamBox& queue = open_queue(*function, stream);
    const GivenArguments given(items_of(args), args.size(), queue.stream);
    std::vector<RecordedArgument> arguments;
    for (std::size_t i = 0; i < given.size(); ++i) {
      arguments.emplace_back(given[i], function->name + ": " + labels[i].cast<std::string>());
      RecordedArgument& argument = arguments.back();
      argument.same_as = earlier_same(given, i);
      if (argument.form == RecordedArgument::Form::number && make_number.is_none()) {
        argument.form = RecordedArgument::Form::object;
        argument.why_fixed = "a call that takes no other number";
      }
    }
    auto recorder = std::make_shared<Recorder>(function->name, std::move(arguments));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const RecordedArgument& argument = recorder->arguments[i];
      recorder->stand_ins.push_back(
          argument.same_as != RecordedArgument::none
              ? recorder->stand_ins[argument.same_as]
              : make_stand_in(given[i], argument, make_number, make_array, queue.stream));
    }
    return py::reinterpret_steal<py::object>(
        make_object(RecorderObject{std::move(recorder), function, args, keywords}));
  });
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
  recording.returns_tuple = PyTuple_CheckExact(result.ptr()) != 0 && !recorder.has_stand_in(result);
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

/// Numbers the values of a launch: the addresses, then the numbers whose values were not used.
void number_values(Recording& recording, Recorder& recorder) {
  for (std::size_t i = 0; i < recorder.arguments.size(); ++i) {
    RecordedArgument& argument = recorder.arguments[i];
    const Recorder::StandIn& made = recorder.stand_ins[i];
    if (argument.form == RecordedArgument::Form::number) {
      const py::object used = made.object.attr("_fixed_at");
      if (used.is_none()) continue;
      argument.form = RecordedArgument::Form::object;
      argument.why_fixed = used.cast<std::string>();
    } else if (made.memory != nullptr && argument.same_as == RecordedArgument::none) {
      argument.place = static_cast<std::uint32_t>(recording.addresses++);
    }
  }
  std::vector<std::uint32_t> places(recorder.numbers.size(), RecordedArgument::none);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const RecordedNumber& number = recorder.numbers[i];
    if (recorder.arguments[number.argument].form != RecordedArgument::Form::number) continue;
    places[i] = static_cast<std::uint32_t>(recording.addresses + recording.numbers.size());
    recording.numbers.push_back(number);
  }
  for (CapturedLaunch& launch : recorder.launches) {
    for (CapturedLaunch::Number& number : launch.numbers) number.value = places[number.value];
    std::erase_if(launch.numbers, [](const CapturedLaunch::Number& number) {
      return number.value == RecordedArgument::none;
    });
  }
}

/// The addresses that stood in for the arguments whose addresses change.
std::vector<StandInRange> ranges_of(const Recorder& recorder) {
  std::vector<StandInRange> ranges;
  for (std::size_t i = 0; i < recorder.arguments.size(); ++i) {
    const Recorder::StandIn& made = recorder.stand_ins[i];
    const RecordedArgument& argument = recorder.arguments[i];
    if (argument.place == RecordedArgument::none) continue;
    ranges.push_back({made.memory->begin(), made.memory->end(), made.base, argument.place});
  }
  return ranges;
}

bool has_other_kernels(py::handle self, const GraphDefinition& given) {
  const std::shared_ptr<Recorder> recorder = recorder_of(self).recorder;
  return without_gil([recorder, definition = GraphDefinition(given)] {
    return RecordedGraph::has_other_kernels(definition, recorder->launches);
  });
}

void keep(py::handle self, py::object used) {
  recorder_of(self).recorder->kept.push_back(keep_alive(std::move(used)));
}

/// Numbers the values of a second capture of a call, which must use the same ones.
void number_again(const Recording& first, Recorder& again, const std::string& name) {
  Recording numbered;
  number_values(numbered, again);
  bool is_same = numbered.addresses == first.addresses &&
                 numbered.numbers.size() == first.numbers.size() &&
                 again.arguments.size() == first.arguments.size();
  for (std::size_t i = 0; is_same && i < again.arguments.size(); ++i) {
    is_same = again.arguments[i].form == first.arguments[i].form &&
              again.arguments[i].place == first.arguments[i].place;
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
                 const py::sequence& guards, const py::object& again_object,
                 const py::object& again_definition) {
  const RecorderObject& object = recorder_of(self);
  const std::shared_ptr<Function> function = object.function;
  Recorder& recorder = *object.recorder;
  require_open_stand_ins(recorder, *function);
  recorder.require_same_sources();
  auto recording = std::make_shared<Recording>();
  note_results(*recording, recorder, *function, result);
  recording->guards = to_guards(guards);
  recording->keywords = object.keywords;
  number_values(*recording, recorder);
  recording->arguments = recorder.arguments;
  const std::vector<StandInRange> ranges = ranges_of(recorder);
  RecordedCapture capture{given_definition, ranges, recorder.launches};
  std::optional<RecordedCapture> again;
  std::vector<StandInRange> ranges_again;
  if (!again_object.is_none()) {
    Recorder& second = *recorder_of(again_object).recorder;
    number_again(*recording, second, function->name);
    ranges_again = ranges_of(second);
    again.emplace(RecordedCapture{py::cast<GraphDefinition>(again_definition), ranges_again,
                                  second.launches});
  }
  return with_current_stream([&](const Stream& stream) {
    const owner::StreamBox& queue = open_queue(*function, stream);
    const Recording::Place place = place_of(queue);
    recording->place = place;
    recording->context = queue.work_context();
    const GivenArguments given(items_of(object.args), PyTuple_GET_SIZE(object.args.ptr()),
                               queue.stream);
    const BorrowedBuffers borrowed(items_of(object.args), PyTuple_GET_SIZE(object.args.ptr()));
    for (std::size_t i = 0; again && i < given.size(); ++i) {
      RecordedArgument& argument = recording->arguments[i];
      argument.alignment = StandInMemory::alignment;
      argument.offset = given[i].address % argument.alignment;
    }
    if (!recording->fits(given, object.keywords.ptr(), place)) {
      throw std::runtime_error(function->name +
                               ": its arguments, or variables that it reads, changed while it was "
                               "recorded");
    }
    LaunchArrays arrays(queue, recording->context);
    std::vector<std::uint64_t> values(recording->addresses + recording->numbers.size());
    recording->write_values(given, arrays, values);
    recording->graph = without_gil([&] {
      const ContextCall call(recording->context);
      return std::make_shared<RecordedGraph>(capture, again ? &*again : nullptr, values,
                                             std::move(recorder.kept));
    });
    std::vector<std::shared_ptr<Recording>> dropped = take_dead(*function);
    function->dead += dropped.size();
    const std::size_t dead =
        function->dead >= function->most ? std::exchange(function->dead, 0) : 0;
    bool is_full = false;
    // Another thread may have recorded the same meanwhile.
    if (const auto other = find(*function, given, object.keywords.ptr(), place)) {
      recording = other;
    } else {
      auto& all = function->recordings;
      all.insert(all.begin(), recording);
      is_full = all.size() > function->most;
      if (is_full) {
        dropped.push_back(std::move(all.back()));
        all.pop_back();
      }
    }
    return py::make_tuple(is_full, dead, checked(launch(*function, recording, stream, given)));
  });
}

py::list show_recordings(py::handle self) {
  py::list shown_all;
  const std::shared_ptr<Function> function = get_if<RecordedFunction>(self.ptr())->box;
  const std::vector<std::shared_ptr<Recording>> recordings = function->recordings;
  for (const std::shared_ptr<Recording>& recording : recordings) {
    py::tuple texts(recording->arguments.size());
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = recording->arguments[i].text();
    shown_all.append(py::make_tuple(texts, recording->graph->node_count(),
                                    recording->graph->changing_nodes(), recording->launches));
  }
  return shown_all;
}

void clear(py::handle self) {
  const auto ended = std::exchange(get_if<RecordedFunction>(self.ptr())->box->recordings, {});
}

}  // namespace

void bind_recorded_function(py::module_& module) {
  HeapClass<RecorderObject>(module, "cudacore._Recorder", refuse_new<how_function_is_made>)
      .property("stand_ins", quick, &stand_ins)
      .def("builder", in_parts, [](py::handle /*self*/) { return make_builder(); })
      .def("begin", quick, &begin)
      .def("end", quick, &end)
      .def("close", in_parts, &close)
      .def("has_other_kernels", in_parts, py::arg("definition"), &has_other_kernels)
      .def("keep", quick, py::arg("used"), &keep)
      .def("finish", in_parts, py::arg("definition"), py::arg("result"), py::arg("guards"),
           py::arg("again"), py::arg("definition_again"), &finish);

  HeapClass<RecordedFunction>(module, "cudacore._RecordedFunction",
                              refuse_new<how_function_is_made>, &call_recorded,
                              call_recorded_definition)
      .def_static(
          "create", quick, py::arg("function"), py::arg("name"), py::arg("most"),
          [](py::object function, std::string name, std::size_t most) {
            auto box = std::make_shared<Function>();
            box->function = std::move(function);
            box->name = std::move(name);
            box->most = most;
            return py::reinterpret_steal<py::object>(make_object(RecordedFunction{std::move(box)}));
          })
      .def("recorder", in_parts, py::arg("args"), py::arg("keywords"), py::arg("labels"),
           py::arg("make_number"), py::arg("make_array"), &make_recorder)
      .property("recordings", quick, &show_recordings)
      .def("clear", quick, &clear);
}

}  // namespace cudacore::bindings
