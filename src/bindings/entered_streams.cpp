// SPDX-License-Identifier: Apache-2.0
#include "bindings/entered_streams.hpp"

#include <algorithm>

namespace cudacore::bindings {
namespace {

struct EnteredStream {
  PyObject* stream;
  const void* by;  ///< whose block it is
};

/// The streams that the thread has entered and not left. They are objects, so that a stream closed
/// in between is known to be closed. A thread that ends inside them drops them.
struct EnteredStreams : driver::NotCopied {
  std::vector<EnteredStream> all;

  ~EnteredStreams() {
    if (all.empty() || !may_take_gil()) return;
    const AcquireGil acquire;
    while (!all.empty()) {  // destroying an object may enter streams in turn
      for (const EnteredStream& one : std::exchange(all, {})) Py_DECREF(one.stream);
    }
  }
};

std::vector<EnteredStream>& entered_streams() noexcept {
  thread_local EnteredStreams streams;
  return streams.all;
}

}  // namespace

const Stream& default_stream() {
  static const Stream stream = Stream::legacy_default();
  return stream;
}

PyObject* entered_stream() noexcept {
  const auto& streams = entered_streams();
  return streams.empty() ? nullptr : streams.back().stream;
}

void enter_stream(ObjectOf<Stream> stream, const void* by) {
  entered_streams().push_back({stream.ptr(), by});
  stream.release();
}

void leave_stream(const void* by, const char* what) {
  auto& streams = entered_streams();
  const auto last = std::find_if(streams.rbegin(), streams.rend(),
                                 [by](const EnteredStream& one) { return one.by == by; });
  if (last == streams.rend()) {
    throw std::runtime_error(std::string(what) +
                             ": this thread has not entered the stream; leave it on the thread "
                             "that entered");
  }
  const auto left = py::reinterpret_steal<py::object>(last->stream);
  streams.erase(std::next(last).base());
}

}  // namespace cudacore::bindings
