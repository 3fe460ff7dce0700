// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <cudacore/handles.hpp>

namespace cudacore {

namespace handle {
struct ContextBox;
}

class Device;

/// A CUDA context: the state of one device in this process.
///
/// A cheap value; copies share one box. A device's primary context is retained once for the life of
/// the process; a context made by another library is borrowed, never destroyed.
class Context {
 public:
  explicit Context(std::shared_ptr<handle::ContextBox> box) noexcept : box_(std::move(box)) {}

  /// The calling thread's current context; the primary context of device 0, made current, where
  /// there is none (cuCtxGetCurrent).
  [[nodiscard]] static Context current();

  [[nodiscard]] CUcontext handle() const noexcept;
  [[nodiscard]] Device device() const noexcept;
  /// Whether the context is a green one, made of part of a device's multiprocessors.
  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): no context of ours is one yet
  [[nodiscard]] bool is_green() const noexcept { return false; }
  /// Whether a failure has made the context unusable; see ContextLostError.
  [[nodiscard]] bool is_lost() const noexcept;

  /// Makes this the calling thread's current context (cuCtxSetCurrent).
  void set_current() const;
  /// Waits for all work of the context (cuCtxSynchronize); answers the interrupt hook.
  void sync() const;

  [[nodiscard]] const std::shared_ptr<handle::ContextBox>& box() const noexcept { return box_; }
  friend bool operator==(const Context& a, const Context& b) noexcept { return a.box_ == b.box_; }

 private:
  std::shared_ptr<handle::ContextBox> box_;
};

}  // namespace cudacore
