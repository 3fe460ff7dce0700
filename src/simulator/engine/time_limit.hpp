// SPDX-License-Identifier: Apache-2.0
//
// How long a kernel may run before it is considered stuck.
#pragma once

#include <chrono>

namespace cudacore::simulator {

/// Applies to grids that start from now on; without a limit, they may run forever.
void set_time_limit(std::chrono::duration<double> limit) noexcept;

}  // namespace cudacore::simulator
