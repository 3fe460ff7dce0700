// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "simulator/api/objects.hpp"

namespace cudacore::simulator {

/// A context with its streams and a handle. @throws std::bad_alloc
std::shared_ptr<Context> make_context(Device& device, bool primary, unsigned flags);
/// Ends its work, its objects and its handle. Once; later calls do nothing.
void destroy_context(const std::shared_ptr<Context>& context);

/// The same for all of them; no thread has one of them current afterwards.
void destroy_all_contexts();
/// Whether it is one of them, though it may still be on its way out.
bool ended_with_all(const Context& context) noexcept;
/// Leaves the device without a primary context where that was one of them. With the device's lock.
void forget_ended_primary(Device& device) noexcept;

/// The live context of a handle; else null, with INVALID_CONTEXT or CONTEXT_IS_DESTROYED.
std::shared_ptr<Context> find_context(CUcontext handle, CUresult& status);

/// Whether they are CUctx_flags, with one way of waiting at most.
bool are_context_flags(unsigned flags) noexcept;

}  // namespace cudacore::simulator
