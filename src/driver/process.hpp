// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudacore::driver {

/// Whether this is a child forked after the driver was initialised.
[[nodiscard]] bool is_forked_child() noexcept;
/// Whether the process or the interpreter is on its way out: nothing is torn down any more.
[[nodiscard]] bool is_exiting() noexcept;
/// Says that it is; never taken back.
void set_exiting() noexcept;
/// Installs the fork and exit handlers; called once, when the driver has been initialised.
void watch_process();

}  // namespace cudacore::driver
