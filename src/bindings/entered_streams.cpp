// SPDX-License-Identifier: Apache-2.0
#include "bindings/entered_streams.hpp"

#include <algorithm>

namespace cudacore::bindings {
namespace {

/// The streams that the thread has entered and not left. They are objects, so that a stream closed
/// in between is known to be closed. A thread that ends inside them drops them.
struct EnteredStreams : driver::NotCopied {
  std::vector<PyObject*> objects;

  ~EnteredStreams() {
    if (objects.empty() || !may_take_gil()) return;
    const AcquireGil acquire;
    while (!objects.empty()) {  // destroying an object may enter streams in turn
      for (PyObject* object : std::exchange(objects, {})) Py_DECREF(object);
    }
  }
};

std::vector<PyObject*>& entered_streams() noexcept {
  thread_local EnteredStreams streams;
  return streams.objects;
}

}  // namespace

const Stream& default_stream() {
  static const Stream stream = Stream::legacy_default();
  return stream;
}

PyObject* entered_stream() noexcept {
  const auto& streams = entered_streams();
  return streams.empty() ? nullptr : streams.back();
}

void enter_stream(ObjectOf<Stream> stream) {
  entered_streams().push_back(stream.ptr());
  stream.release();
}

void leave_stream(const ObjectOf<Stream>& stream) {
  auto& streams = entered_streams();
  const auto last = std::find(streams.rbegin(), streams.rend(), stream.ptr());
  if (last == streams.rend()) {
    throw std::runtime_error(
        "Stream.__exit__: this thread has not entered the stream; leave it on the thread that "
        "entered");
  }
  const auto left = py::reinterpret_steal<py::object>(*last);
  streams.erase(std::next(last).base());
}

}  // namespace cudacore::bindings
