// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "driver/driver_api.hpp"

namespace cudacore::error {

/// What events must have in common to be used in place of each other. A capture, and anyone who has
/// the handle, can tell whether an event was ever recorded.
struct EventKind {
  bool timing = false;
  bool blocking = false;
  bool recorded = false;
};

/// Idle events of one context that were closed, kept for reuse: creating and destroying one in the
/// driver takes several times as long.
class IdleEvents {
 public:
  /// An event of this kind; null if there is none.
  [[nodiscard]] CUevent take(EventKind kind) noexcept;
  /// Keeps an event; returns false if there are enough of its kind.
  [[nodiscard]] bool keep(CUevent event, EventKind kind) noexcept;

 private:
  struct Idle {
    std::array<CUevent, 32> events{};
    std::size_t count = 0;
  };

  [[nodiscard]] Idle& idle(EventKind kind) noexcept {
    return idle_[(kind.timing ? 4U : 0U) + (kind.blocking ? 2U : 0U) + (kind.recorded ? 1U : 0U)];
  }

  std::mutex mutex_;  ///< guards idle_; never held during a driver call
  std::array<Idle, 8> idle_;
};

}  // namespace cudacore::error
