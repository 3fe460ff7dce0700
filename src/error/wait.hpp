// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "error/context_box.hpp"

// Waits that the interrupt hook (Ctrl-C, in Python) can end.

namespace cudacore::error {

using InterruptHook = bool (*)();

/// Sets the hook that a wait calls every 20 ms to ask whether to give up; null for none.
void set_interrupt_hook(InterruptHook hook) noexcept;
[[nodiscard]] InterruptHook interrupt_hook() noexcept;

/// Waits by polling `query` until it stops returning CUDA_ERROR_NOT_READY: spins for a while, then
/// sleeps for longer and longer intervals, in proportion to the time waited, and calls the
/// interrupt hook every 20 ms. Without an interrupt hook, the driver's own blocking call is the
/// better choice.
/// @throw InterruptedError if the hook requests it.
[[nodiscard]] CUresult wait_until_ready(const std::function<CUresult()>& query, bool spin = true);

/// Makes a blocking driver call that has no query to poll, such as cuCtxSynchronize. If there is an
/// interrupt hook, on a separate thread, and calls the hook every 20 ms. If the wait is canceled,
/// the thread keeps running until the driver returns, so `wait` must own what it needs.
/// @throw InterruptedError if the hook requests it.
[[nodiscard]] CUresult wait_on_thread(const std::shared_ptr<ContextBox>& context,
                                      std::function<CUresult(const driver::DriverApi&)> wait);

}  // namespace cudacore::error
