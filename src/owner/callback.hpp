// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

namespace cudacore::handle {

/// Marks the calling thread as one inside a host callback, where the driver takes no calls.
class CallbackScope {
 public:
  CallbackScope() noexcept;
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
};

/// Whether the calling thread is inside a host callback.
[[nodiscard]] bool in_callback() noexcept;

/// Has a thread of our own call `end`, which owns all it needs. Reports where memory is short.
void end_elsewhere(std::function<void()> end) noexcept;

/// Ends something of the driver's: at once, or elsewhere where a host callback let go of it.
template <typename End>
void end_outside_callbacks(End end) noexcept {
  if (!in_callback()) [[likely]] {
    end();
    return;
  }
  end_elsewhere(std::move(end));
}

}  // namespace cudacore::handle
