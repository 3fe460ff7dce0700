// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cudacore/event.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore {

/// Creates an event (cuEventCreate), or reuses one that no one can tell from a new one. An event
/// that the caller records before anyone else sees it may have been recorded before.
[[nodiscard]] std::shared_ptr<owner::EventBox> make_event(
    const std::shared_ptr<error::ContextBox>& context, const EventOptions& options,
    bool is_recorded_next = false);

}  // namespace cudacore
