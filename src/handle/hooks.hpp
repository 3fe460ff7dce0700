// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudacore::handle {

using InterruptHook = bool (*)();

/// What system::set_interrupt_hook() installed; null where there is none.
[[nodiscard]] InterruptHook interrupt_hook() noexcept;

}  // namespace cudacore::handle
