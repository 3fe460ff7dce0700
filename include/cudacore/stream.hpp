// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <cudacore/context.hpp>
#include <cudacore/event.hpp>
#include <cudacore/handles.hpp>

namespace cudacore {

namespace owner {
struct StreamBox;
}

/// How to create a stream.
struct StreamOptions {
  bool nonblocking = true;        ///< doesn't wait for the legacy default stream
  std::optional<int> priority{};  ///< a lower number is more urgent; unset for the device's default
};

/// An ordered queue of work on one device.
///
/// Cheap to copy; copies share one CUstream. A stream that this library created is destroyed with
/// its last copy; the driver then finishes the work that is queued. Borrowed streams (from_handle,
/// the default streams) are never destroyed.
class Stream {
 public:
  /// Creates a stream in the current context (cuStreamCreateWithPriority).
  explicit Stream(const StreamOptions& options = {});
  /// Creates a stream in the given context.
  /// @throw std::invalid_argument if the priority is outside the device's range.
  Stream(const Context& context, const StreamOptions& options);
  explicit Stream(std::shared_ptr<owner::StreamBox> box) noexcept : box_(std::move(box)) {}

  /// The legacy default stream of the current context, whichever that is; ordered with all blocking
  /// streams.
  [[nodiscard]] static Stream legacy_default();
  /// The calling thread's own default stream of the current context, whichever that is.
  [[nodiscard]] static Stream per_thread_default();
  /// Wraps a stream that is owned elsewhere; `owner` is kept alive as long as any copy.
  [[nodiscard]] static Stream from_handle(CUstream handle, std::shared_ptr<void> owner = nullptr);

  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  [[nodiscard]] CUstream handle() const;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] bool is_nonblocking() const;
  /// The effective priority (cuStreamGetPriority).
  [[nodiscard]] int priority() const;

  /// Records `event` after all work queued so far (cuEventRecord).
  void record(const Event& event) const;
  /// Creates an event in this stream's context and records it.
  [[nodiscard]] Event record(const EventOptions& options = {}) const;
  /// Makes later work on this stream wait for the event's last record (cuStreamWaitEvent).
  void wait(const Event& event) const;
  /// Makes later work on this stream wait for everything that is queued on `other` now.
  void wait(const Stream& other) const;
  /// Waits until all queued work has finished; the interrupt hook can end the wait.
  void sync() const;
  /// Whether all queued work has finished (cuStreamQuery).
  [[nodiscard]] bool is_done() const;
  /// Calls `function` on a driver thread after all work queued so far (cuLaunchHostFunc). It must
  /// not call CUDA. If it throws an exception, that is reported and dropped.
  void add_callback(std::function<void()> function) const;

  [[nodiscard]] const std::shared_ptr<owner::StreamBox>& box() const noexcept { return box_; }
  /// Whether both refer to the same CUstream.
  friend bool operator==(const Stream& a, const Stream& b);

 private:
  std::shared_ptr<owner::StreamBox> box_;
};

}  // namespace cudacore
