// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudacore::driver {

/// Whether this is a child process that was forked after the driver was initialized.
[[nodiscard]] bool is_forked_child() noexcept;
/// Whether the process or the interpreter is exiting: nothing is released from then on.
[[nodiscard]] bool is_exiting() noexcept;
/// Marks the process as exiting, permanently.
void set_exiting() noexcept;
/// Installs the fork and exit handlers; called once, after the driver has been initialized.
void watch_process();

}  // namespace cudacore::driver
