// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <cudacore/context.hpp>
#include <cudacore/handles.hpp>

namespace cudacore {

namespace owner {
struct EventBox;
}

/// How to create an event.
struct EventOptions {
  bool timing_enabled = false;  ///< may be subtracted from another such event
  bool blocking_sync = false;   ///< a waiting thread sleeps at once instead of spinning first
  bool ipc_enabled = false;     ///< other processes may open it; excludes timing
};

/// What another process needs to open an event.
struct EventShare {
  std::array<std::byte, 64> handle{};
  bool blocking_sync = false;
};

/// A point in a stream's work that can be waited for and timed.
///
/// Cheap to copy; copies share one CUevent. When the last copy is gone, it is destroyed, or kept
/// for the next Event if nothing can tell that it was used.
class Event {
 public:
  /// Creates an event in the current context (cuEventCreate), or reuses one that was closed.
  explicit Event(const EventOptions& options = {});
  /// Creates an event in the given context.
  Event(const Context& context, const EventOptions& options);
  explicit Event(std::shared_ptr<owner::EventBox> box) noexcept : box_(std::move(box)) {}

  /// Opens an event of another process in a context (cuIpcOpenEventHandle). The share is not
  /// trusted. An event that this process knows already is not opened again.
  /// @throw CUDAError unless a process that runs has the event, on the context's device.
  [[nodiscard]] static Event open_shared(const Context& context, const EventShare& share);

  /// Drops this object's share of the event; using it later throws std::invalid_argument.
  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  [[nodiscard]] CUevent handle() const;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] bool is_timing_enabled() const;
  [[nodiscard]] bool is_blocking_sync() const;
  [[nodiscard]] bool is_ipc_enabled() const;
  /// What another process needs to open it (cuIpcGetEventHandle).
  /// @throw NotSupportedError unless it was created with ipc_enabled.
  [[nodiscard]] EventShare share() const;

  /// Whether the work before the last record has finished (cuEventQuery).
  [[nodiscard]] bool is_done() const;
  /// Waits for the work before the last record; the interrupt hook can end the wait.
  void sync() const;
  /// The milliseconds from `start` to this event (cuEventElapsedTime).
  /// @throw std::invalid_argument if either event has no timing, was never recorded or has not
  /// completed, or if the events belong to different devices.
  [[nodiscard]] float elapsed_since(const Event& start) const;

  [[nodiscard]] const std::shared_ptr<owner::EventBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::EventBox> box_;
};

}  // namespace cudacore
