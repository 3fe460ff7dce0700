// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "driver/not_copied.hpp"

namespace cudacore::owner {

/// Marks the calling thread as being inside a host callback, where the driver accepts no calls.
class CallbackScope : driver::NotCopied {
 public:
  CallbackScope() noexcept;
  ~CallbackScope();
};

/// Whether the calling thread is inside a host callback.
[[nodiscard]] bool in_callback() noexcept;

/// Calls `attempt`, which owns all it needs, on a separate thread until it returns true, with
/// growing pauses. It must not wait: the thread serves everybody. If memory runs out, reports that.
void try_elsewhere(std::function<bool()> attempt) noexcept;

/// The same for what needs one attempt.
void end_elsewhere(std::function<void()> end) noexcept;

/// Destroys a driver object: at once, or on a separate thread if a host callback dropped it.
template <typename End>
void end_outside_callbacks(End end) noexcept {
  if (!in_callback()) [[likely]] {
    end();
    return;
  }
  end_elsewhere(std::move(end));
}

}  // namespace cudacore::owner
