// SPDX-License-Identifier: Apache-2.0
//
// Streams: each is a queue of work in a context.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include "simulator/api/entry.hpp"
#include "simulator/api/objects.hpp"
#include "simulator/api/stream/command_queue.hpp"

namespace cudacore::simulator {

/// The priorities that a stream may have: lower is more urgent. They have no effect here.
inline constexpr int least_stream_priority = 0;
inline constexpr int greatest_stream_priority = -5;

class Stream {
 public:
  /// A default stream belongs to its context or thread; other streams keep their context alive.
  Stream(Context& context, std::shared_ptr<Context> keep, std::shared_ptr<Queue> queue,
         unsigned flags, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Context& context;
  const std::shared_ptr<Context> keep;
  const std::shared_ptr<Queue> queue;
  const unsigned flags;
  const std::uint64_t id;  ///< never reused
  CUstream handle = nullptr;
  std::shared_ptr<Context> green;              ///< the green context that it was made in, if any
  mutable std::atomic<bool> capturing{false};  ///< set by captures: capture.hpp

  std::mutex mutex;  ///< guards everything below
  int priority;
  std::array<std::optional<CUlaunchAttributeValue>, CU_LAUNCH_ATTRIBUTE_MAX> attributes;

  /// Whether what is put into it goes to a graph.
  [[nodiscard]] bool is_capturing() const noexcept {
    return capturing.load(std::memory_order_acquire);
  }
  /// Fails, and invalidates captures, if the stream captures, or waits for one that does.
  CUresult check_capture() const;

  /// Adds work. Fails with the error that broke the context, or if the stream captures.
  CUresult enqueue(std::unique_ptr<Work> work, std::vector<Point> after = {},
                   std::uint64_t* sequence = nullptr) const;
  /// Waits for everything that is in it now.
  CUresult synchronize() const;
  /// Tells the queues which error broke the context.
  CUresult check_context() const noexcept;
};

/// The queues of a context, its legacy default stream, and the handles that end with it.
class ContextStreams {
 public:
  explicit ContextStreams(Context& context);

  const std::shared_ptr<QueueGroup> group;
  Stream legacy;

  std::mutex mutex;  ///< guards everything below
  std::unordered_set<CUstream> streams;
  std::unordered_set<CUevent> events;
};

/// Creates a stream in a context, perhaps for a green context of it.
CUresult create_stream(CUstream* handle, Context& context, std::shared_ptr<Context> green,
                       unsigned flags, int priority);

/// While it lives, the calling thread's default stream is its own.
class OwnDefaultStream {
 public:
  OwnDefaultStream() noexcept;
  ~OwnDefaultStream();
  OwnDefaultStream(const OwnDefaultStream&) = delete;
  OwnDefaultStream& operator=(const OwnDefaultStream&) = delete;
};

/// A call on a stream: CUresult body(const std::shared_ptr<Stream>&).
template <class Body>
CUresult stream_call(CUstream handle, Body&& body) noexcept {
  try {
    CUresult status = CUDA_SUCCESS;
    const std::shared_ptr<Stream> stream = find_stream(handle, status);
    if (stream == nullptr) return status;
    return body(stream);
  } catch (...) {
    return result_of_exception();
  }
}

/// Makes the pools of a device return what is above their thresholds; called at synchronizations.
void release_unused_memory(Device& device) noexcept;
/// Frees everything that was allocated in a context.
void release_context_memory(Context& context) noexcept;

}  // namespace cudacore::simulator
