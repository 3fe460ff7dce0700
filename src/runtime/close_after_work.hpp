// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "driver/driver_api.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"

namespace cudacore {

/// Drops a share of a box that queued work may use. The last share is dropped after that work. Here
/// the wait can be interrupted; in the box's destructor it cannot.
/// @throw InterruptedError, after which a background thread drops the share; LaunchError if the
/// wait is the first to notice a fault.
template <typename Box>
void close_after_work(std::shared_ptr<Box>& box) {
  const std::shared_ptr<Box> last = std::move(box);
  if (last == nullptr || last.use_count() != 1 || !last->is_waited_for()) return;
  // During a capture, which the wait would end, the destructor lets another thread wait.
  if (error::interrupt_hook() == nullptr || owner::in_callback() || owner::any_capture()) return;
  if (driver::api_for_cleanup() == nullptr) return;
  const std::shared_ptr<error::ContextBox> context = last->context;
  if (context->lost.load(std::memory_order_relaxed)) return;
  const CUresult result = error::wait_on_thread(
      context, [last](const driver::DriverApi& api) { return api.cuCtxSynchronize(); });
  error::check(
      result, "cuCtxSynchronize", [&] { return error::describe_device(context->device); },
      context.get());
}

}  // namespace cudacore
