// SPDX-License-Identifier: Apache-2.0
#include "error/idle_events.hpp"

namespace cudacore::error {

CUevent IdleEvents::take(EventKind kind) noexcept {
  const std::scoped_lock lock(mutex_);
  Idle& of_kind = idle(kind);
  return of_kind.count != 0 ? of_kind.events[--of_kind.count] : nullptr;
}

bool IdleEvents::keep(CUevent event, EventKind kind) noexcept {
  const std::scoped_lock lock(mutex_);
  Idle& of_kind = idle(kind);
  if (of_kind.count == of_kind.events.size()) return false;
  of_kind.events[of_kind.count++] = event;
  return true;
}

}  // namespace cudacore::error
