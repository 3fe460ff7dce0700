// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "simulator/api/objects.hpp"
#include "simulator/api/stream/command_queue.hpp"
#include "simulator/api/stream/shared_event.hpp"

namespace cudacore::simulator {

/// One recording of an event: a point in a stream, and when it was reached.
struct Recording {
  Point point;
  std::atomic<std::int64_t> nanoseconds{0};  ///< on the steady clock, once the point has passed
};

struct CapturedPoint;  // capture.hpp

/// Refers to its newest recording. Anything that waited for an older one still does.
class Event {
 public:
  Event(std::shared_ptr<Context> in, unsigned its_flags, std::shared_ptr<SharedEvent> of_processes)
      : context(std::move(in)), flags(its_flags), shared(std::move(of_processes)) {}

  const std::shared_ptr<Context> context;
  const unsigned flags;
  /// What stands for its recordings if other processes may see them; otherwise null.
  const std::shared_ptr<SharedEvent> shared;
  /// Where it was last recorded, if that was in a capture: capture.cpp. Guarded by captures.
  std::shared_ptr<const CapturedPoint> captured;
  std::atomic<bool> is_captured{false};  ///< whether that is set

  /// Null if it was never recorded.
  [[nodiscard]] std::shared_ptr<Recording> recording() const {
    const std::scoped_lock lock(mutex_);
    return recording_;
  }
  /// Puts a mark into the stream. Fails with the error that broke the context.
  CUresult record(const Stream& stream);
  /// Replaces the newest recording.
  void set(std::shared_ptr<Recording> recording);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> recording_;
};

/// Refuses an event of several processes.
CUresult refuse_in_graph() noexcept;
/// Makes an event and its handle.
CUevent add_event(Context& context, unsigned flags, std::shared_ptr<SharedEvent> shared);

/// Notes the time in a recording.
std::unique_ptr<Work> make_mark(std::shared_ptr<Recording> recording);
/// Does nothing: the place in a queue at which it waits for another queue's point.
std::unique_ptr<Work> make_pass();

}  // namespace cudacore::simulator
