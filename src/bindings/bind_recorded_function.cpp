// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bindings/conversions.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/recording.hpp"
#include "bindings/traced_launches.hpp"
#include "runtime/context_call.hpp"

// Recorded functions. cudacore.graph, in Python, calls the function and shows what is recorded;
// here are the choice of a recording, its launch, and the stand-ins for arguments.

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

/// The recording that fits, which becomes the first; null if there is none.
std::shared_ptr<Recording> find(Function& function, const GivenArguments& given, PyObject* names,
                                const error::ContextBox& context) {
  auto& all = function.recordings;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& recording) {
    return recording->fits(given, names, context);
  });
  if (found == all.end()) return nullptr;
  std::rotate(all.begin(), found, found + 1);
  return all.front();
}

PyObject* replay(const std::shared_ptr<Function>& function, const Stream& stream,
                 PyObject* const* args, std::size_t count, PyObject* names) {
  const owner::StreamBox& queue = open_queue(*function, stream);
  const std::shared_ptr<error::ContextBox>& context = queue.work_context();
  const GivenArguments given(args, count, queue.stream);
  const std::shared_ptr<Recording> recording = find(*function, given, names, *context);
  if (recording == nullptr) return Py_NewRef(Py_NotImplemented);
  LaunchArrays arrays(queue, context);
  try {
    recording->launch(stream, given, arrays);
  } catch (...) {
    if (recording->graph->is_broken()) drop(*function, recording);
    throw;
  }
  return recording->result(given);
}

/// Whether work on the current stream becomes part of something else, or is left out.
bool is_part_of_more(const Function& function, const Stream& stream) {
  if (is_tracing()) return true;
  if (!owner::may_be_capturing()) [[likely]]
    return false;
  if (owner::asks_for_capture(driver::api(), open_queue(function, stream).stream)) return true;
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

/// A Buffer of other addresses.
py::object stand_in_buffer(CUdeviceptr address, std::size_t size, int device) {
  auto box = std::make_shared<owner::BufferBox>();
  box->pointer = address;
  box->size = size;
  box->device = device;
  return py::cast(Buffer(std::move(box)));
}

/// Addresses for what a layout reaches from a base, which is aligned as `address` is.
void stand_in_for(Recorder::StandIn& made, std::uint64_t address, const StridedLayout& layout,
                  std::size_t item, int device) {
  const StridedLayout::Range range = layout.range();
  const std::int64_t first = range.first * static_cast<std::int64_t>(item);
  const auto size = static_cast<std::size_t>(range.end - range.first) * item;
  const std::uint64_t lowest = address + static_cast<std::uint64_t>(first);
  made.memory = without_gil([=] {
    return std::make_shared<StandInMemory>(Device(device), size, lowest % StandInMemory::alignment);
  });
  made.base = made.memory->address() - static_cast<std::uint64_t>(first);
}

StridedView stand_in_view(Recorder::StandIn& made, const StridedView& shape) {
  stand_in_for(made, shape.address, shape.layout, shape.element.size, shape.device_id);
  const CUdeviceptr first = made.memory->address();
  StridedView view = shape;
  view.exporter = stand_in_buffer(first, made.memory->end() - first, shape.device_id);
  view.memory = nullptr;
  view.address = made.base;
  return view;
}

/// @throw NotSupportedError unless `made` is an array as the given one, at the stand-in's address.
void require_stand_in(const Recorder::StandIn& made, const RecordedArgument& wanted,
                      py::handle original, CUstream consumer) {
  PyObject* const object = made.object.ptr();
  const GivenArguments given(&object, 1, consumer);
  if (given[0].is_memory && given[0].address == made.base && wanted.fits(given[0])) return;
  throw NotSupportedError("a " + type_name(original) +
                          " cannot be given other memory to be recorded; pass "
                          "cudacore.utils.StridedMemoryView of it");
}

Recorder::StandIn stand_in(const GivenArgument& given, const RecordedArgument& argument,
                           const py::object& make_number, const py::object& make_array,
                           CUstream consumer) {
  Recorder::StandIn made;
  const auto object = py::reinterpret_borrow<py::object>(given.object);
  if (argument.form == RecordedArgument::Form::number) {
    made.value = object;
    made.object = make_number(object);
  } else if (argument.form == RecordedArgument::Form::object) {
    made.object = object;
  } else if (given.view != nullptr) {
    const StridedView shape = *given.view;
    made.object = py::cast(stand_in_view(made, shape));
  } else if (given.array != nullptr) {
    StridedView shape{.exporter = object};
    shape.address = given.address;
    shape.element = element_type_of(*argument.element);
    shape.layout = StridedLayout(
        argument.shape, argument.strides.empty() ? std::nullopt : std::optional(argument.strides));
    shape.is_read_only = argument.is_read_only;
    shape.device = {dlpack::DeviceType::cuda, given.device};
    shape.device_id = given.device;
    made.object = make_array(object, py::cast(stand_in_view(made, shape)));
    require_stand_in(made, argument, object, consumer);
  } else {
    const auto count = static_cast<std::int64_t>(given.size);
    stand_in_for(made, given.address, StridedLayout({count}), 1, given.device);
    made.object = stand_in_buffer(made.base, given.size, given.device);
  }
  return made;
}

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
              : stand_in(given[i], argument, make_number, make_array, queue.stream));
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
  std::vector<Recorder::StandIn> ended = std::exchange(recorder->stand_ins, {});
  for (const Recorder::StandIn& one : ended) {
    if (one.memory == nullptr) continue;
    const auto* view = get_if<StridedView>(one.object.ptr());
    PyObject* buffer = view != nullptr ? view->exporter.ptr() : one.object.ptr();
    if (get_if<Buffer>(buffer) != nullptr) close_object<Buffer>(buffer);
  }
}

/// Which arguments a function returned.
std::uint32_t result_index(const Recorder& recorder, const Function& function, py::handle result) {
  for (std::size_t i = 0; i < recorder.stand_ins.size(); ++i) {
    if (recorder.stand_ins[i].object.ptr() == result.ptr()) return static_cast<std::uint32_t>(i);
  }
  throw py::type_error(function.name + " returns a " + type_name(result) +
                       ": a recorded function returns None, arguments of its own, or a tuple of "
                       "these; let it write into an argument");
}

void note_results(Recording& recording, const Recorder& recorder, const Function& function,
                  const py::object& result) {
  if (result.is_none()) return;
  recording.returns_tuple = PyTuple_CheckExact(result.ptr()) != 0;
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

/// Adds the recording of a complete capture, and perhaps of a second one of the same call; returns
/// whether another recording was dropped for it.
bool finish(py::handle self, const GraphDefinition& given_definition, const py::object& result,
            const py::sequence& guards, const py::object& again_object,
            const py::object& again_definition) {
  const RecorderObject& object = recorder_of(self);
  const std::shared_ptr<Function> function = object.function;
  Recorder& recorder = *object.recorder;
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
  with_current_stream([&](const Stream& stream) {
    const owner::StreamBox& queue = open_queue(*function, stream);
    recording->context = queue.work_context();
    const GivenArguments given(items_of(object.args), PyTuple_GET_SIZE(object.args.ptr()),
                               queue.stream);
    for (std::size_t i = 0; again && i < given.size(); ++i) {
      RecordedArgument& argument = recording->arguments[i];
      argument.alignment = StandInMemory::alignment;
      argument.offset = given[i].address % argument.alignment;
    }
    if (!recording->fits(given, object.keywords.ptr(), *recording->context)) {
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
  });
  function->recordings.insert(function->recordings.begin(), std::move(recording));
  if (function->recordings.size() <= function->most) return false;
  function->recordings.pop_back();
  return true;
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
