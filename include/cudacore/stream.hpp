// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <cudacore/context.hpp>
#include <cudacore/event.hpp>
#include <cudacore/handles.hpp>

namespace cudacore {

namespace handle {
struct StreamBox;
}

/// How a stream is made.
struct StreamOptions {
  bool nonblocking = true;        ///< does not wait for the legacy default stream
  std::optional<int> priority{};  ///< lower is more urgent; the device's default where unset
};

/// An ordered queue of work on one device.
///
/// A cheap value; copies share one cuStream. A stream this library created is destroyed with the
/// last of them; the driver then finishes the work that is queued. Borrowed streams (from_handle,
/// the default streams) are never destroyed.
class Stream {
 public:
  /// A stream of the current context (cuStreamCreateWithPriority).
  explicit Stream(const StreamOptions& options = {});
  /// A stream of the given context.
  /// @throw std::invalid_argument where the priority is outside the device's range.
  Stream(const Context& context, const StreamOptions& options);
  explicit Stream(std::shared_ptr<handle::StreamBox> box) noexcept : box_(std::move(box)) {}

  /// The legacy default stream of whatever context is current: ordered with all blocking streams.
  [[nodiscard]] static Stream legacy_default();
  /// The calling thread's own default stream of whatever context is current.
  [[nodiscard]] static Stream per_thread_default();
  /// A stream that somebody else owns; `owner` is kept alive as long as any copy.
  [[nodiscard]] static Stream from_handle(CUstream handle, std::shared_ptr<void> owner = nullptr);

  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  [[nodiscard]] CUstream handle() const;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] bool is_nonblocking() const;
  /// The priority in force (cuStreamGetPriority).
  [[nodiscard]] int priority() const;

  /// Records `event` after all work queued so far (cuEventRecord).
  void record(const Event& event) const;
  /// Makes a new event of this stream's context and records it.
  [[nodiscard]] Event record(const EventOptions& options = {}) const;
  /// Makes later work of this stream wait for the event's last record (cuStreamWaitEvent).
  void wait(const Event& event) const;
  /// Makes later work of this stream wait for all that is now queued on `other`.
  void wait(const Stream& other) const;
  /// Waits until all queued work has finished; answers the interrupt hook.
  void sync() const;
  /// Whether all queued work has finished (cuStreamQuery).
  [[nodiscard]] bool is_done() const;
  /// Calls `function` on a driver thread after all work queued so far (cuLaunchHostFunc). It must
  /// not call CUDA; an exception that leaves it is reported and dropped.
  void add_callback(std::function<void()> function) const;

  [[nodiscard]] const std::shared_ptr<handle::StreamBox>& box() const noexcept { return box_; }
  /// Whether both stand for the same cuStream.
  friend bool operator==(const Stream& a, const Stream& b);

 private:
  std::shared_ptr<handle::StreamBox> box_;
};

}  // namespace cudacore
