// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "simulator/api/objects.hpp"

namespace cudacore::simulator {

/// Creates a context with its streams and a handle. @throws std::bad_alloc
std::shared_ptr<Context> make_context(Device& device, bool primary, unsigned flags);
/// Destroys its work, its objects and its handle. Later calls do nothing.
void destroy_context(const std::shared_ptr<Context>& context);

/// The same for all contexts; none of them is current to any thread afterwards.
void destroy_all_contexts();
/// Whether it is one of those contexts, even if it is still being destroyed.
bool ended_with_all(const Context& context) noexcept;
/// If the device's primary context was one of them, removes it. The device's lock must be held.
void forget_ended_primary(Device& device) noexcept;

/// The live context for a handle; otherwise null, with INVALID_CONTEXT or CONTEXT_IS_DESTROYED.
std::shared_ptr<Context> find_context(CUcontext handle, CUresult& status);

/// Whether these are CUctx_flags, with at most one way of waiting.
bool are_context_flags(unsigned flags) noexcept;

}  // namespace cudacore::simulator
