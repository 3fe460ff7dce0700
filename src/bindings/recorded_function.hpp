// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/entered_streams.hpp"
#include "bindings/recording.hpp"

namespace cudacore::bindings {

/// The recordings of one function; the one that was used last is the first.
struct RecordedFunction {
  struct Box : driver::NotCopied {
    std::string name;
    py::object function;
    std::vector<std::shared_ptr<Recording>> recordings;
    std::size_t max_recordings = 0;
    std::size_t dead_recordings =
        0;  ///< recordings that no call could fit any more, since the last warning
  };
  std::shared_ptr<Box> box;
};

template <>
struct CollectorTraits<RecordedFunction> {
  static constexpr bool any = true;
  static bool may_keep(const RecordedFunction& /*function*/) noexcept { return true; }
  static int visit(const RecordedFunction& function, visitproc visit, void* arg);
};

/// Calls `use` with a share of the current stream, which a graph may keep.
template <typename Use>
auto with_current_stream(const Use& use) {
  PyObject* entered = entered_stream();
  const Stream stream = entered != nullptr ? *get_if<Stream>(entered) : default_stream();
  return use(stream);
}

/// @throw std::invalid_argument if the stream is closed.
[[nodiscard]] const owner::StreamBox& open_queue(const RecordedFunction::Box& function,
                                                 const Stream& stream);
/// Where a call queues work, and what it finds as the current context.
[[nodiscard]] Recording::Contexts contexts_of(const owner::StreamBox& queue);
/// The recording that fits, which becomes the first; null if there is none. May run Python code,
/// which may change the list: a module may have keys that aren't strings.
[[nodiscard]] std::shared_ptr<Recording> find_recording(RecordedFunction::Box& function,
                                                        const CallArguments& given, PyObject* names,
                                                        const Recording::Contexts& contexts);
/// Launches a recording that fits; returns what the function returned.
[[nodiscard]] PyObject* launch_recording(RecordedFunction::Box& function,
                                         const std::shared_ptr<Recording>& recording,
                                         const Stream& stream, const CallArguments& given);
/// Drops the recordings that no call fits any more: nothing but recordings has an object that must
/// be found. Returns them, to be dropped when the list may change.
[[nodiscard]] std::vector<std::shared_ptr<Recording>> take_dead_recordings(
    RecordedFunction::Box& function);

}  // namespace cudacore::bindings
