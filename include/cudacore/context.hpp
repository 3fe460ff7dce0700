// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <cudacore/handles.hpp>

namespace cudacore {

namespace error {
struct ContextBox;
}

class Device;

/// A CUDA context: the state of one device in this process.
///
/// Cheap to copy; copies share one box. A device's primary context is retained once for the life of
/// the process. A context made by another library is borrowed and never destroyed.
class Context {
 public:
  explicit Context(std::shared_ptr<error::ContextBox> box) noexcept : box_(std::move(box)) {}

  /// The calling thread's current context (cuCtxGetCurrent). If there is none, makes the primary
  /// context of device 0 current.
  [[nodiscard]] static Context current();

  [[nodiscard]] CUcontext handle() const noexcept;
  [[nodiscard]] Device device() const noexcept;
  /// Whether this is a green context, which has only some of a device's multiprocessors.
  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): no context of ours is one yet
  [[nodiscard]] bool is_green() const noexcept { return false; }
  /// Whether a failure has made the context unusable; see ContextLostError.
  [[nodiscard]] bool is_lost() const noexcept;

  /// Makes this the calling thread's current context (cuCtxSetCurrent).
  void set_current() const;
  /// Waits for all work in the context (cuCtxSynchronize); the interrupt hook can end the wait.
  void sync() const;

  [[nodiscard]] const std::shared_ptr<error::ContextBox>& box() const noexcept { return box_; }
  friend bool operator==(const Context& a, const Context& b) noexcept { return a.box_ == b.box_; }

 private:
  std::shared_ptr<error::ContextBox> box_;
};

}  // namespace cudacore
