// SPDX-License-Identifier: Apache-2.0
//
// How long a kernel may run before it is taken for stuck.
#pragma once

#include <chrono>

namespace cudacore::simulator {

/// For grids that start from now on; without it they may run for ever.
void set_time_limit(std::chrono::duration<double> limit) noexcept;

}  // namespace cudacore::simulator
