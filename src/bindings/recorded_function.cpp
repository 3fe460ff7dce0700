// SPDX-License-Identifier: Apache-2.0
#include "bindings/recorded_function.hpp"

#include <algorithm>

#include "bindings/conversions.hpp"

namespace cudacore::bindings {
namespace {

void drop(RecordedFunction::Box& function, const std::shared_ptr<Recording>& recording) {
  const auto found = std::find(function.recordings.begin(), function.recordings.end(), recording);
  if (found != function.recordings.end()) function.recordings.erase(found);
}

}  // namespace

const owner::StreamBox& open_queue(const RecordedFunction::Box& function, const Stream& stream) {
  if (stream.box() == nullptr) {
    throw std::invalid_argument(function.name + ": the current stream is closed");
  }
  return *stream.box();
}

Recording::Contexts contexts_of(const owner::StreamBox& queue) {
  const error::ContextBox* context = queue.work_context().get();
  // The default stream is that of the current context.
  return {context, entered_stream() == nullptr ? context : error::current_context().get()};
}

std::shared_ptr<Recording> find_recording(RecordedFunction::Box& function,
                                          const CallArguments& given, PyObject* names,
                                          const Recording::Contexts& contexts) {
  auto& all = function.recordings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::shared_ptr<Recording> recording = all[i];
    if (!recording->fits(given, names, contexts)) continue;
    const auto found = std::find(all.begin(), all.end(), recording);
    if (found != all.end()) std::rotate(all.begin(), found, found + 1);
    return recording;
  }
  return nullptr;
}

PyObject* launch_recording(RecordedFunction::Box& function,
                           const std::shared_ptr<Recording>& recording, const Stream& stream,
                           const CallArguments& given) {
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

std::vector<std::shared_ptr<Recording>> take_dead_recordings(RecordedFunction::Box& function) {
  std::unordered_map<PyObject*, Py_ssize_t> held;
  for (const auto& recording : function.recordings) recording->count_references(held);
  std::vector<std::shared_ptr<Recording>> dead;
  std::erase_if(function.recordings, [&](const std::shared_ptr<Recording>& recording) {
    if (!recording->is_dead(held)) return false;
    dead.push_back(recording);
    return true;
  });
  return dead;
}

int CollectorTraits<RecordedFunction>::visit(const RecordedFunction& function, visitproc visit,
                                             void* arg) {
  if (function.box == nullptr || function.box.use_count() != 1) return 0;
  Py_VISIT(function.box->function.ptr());
  for (const std::shared_ptr<Recording>& recording : function.box->recordings) {
    if (recording.use_count() != 1) continue;
    for (const RecordedArgument& argument : recording->arguments) {
      Py_VISIT(argument.value.ptr());
      Py_VISIT(argument.type.ptr());
    }
    for (const Guard& guard : recording->guards) {
      Py_VISIT(guard.container.ptr());
      Py_VISIT(guard.expected.ptr());
    }
  }
  return 0;
}

}  // namespace cudacore::bindings
