// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace cudacore::simulator {

/// CUDA_ERROR_NOT_SUPPORTED, or the error of the process's state; logs the function's name once.
int refuse_not_simulated(const char* function, std::atomic<bool>& is_said) noexcept;

}  // namespace cudacore::simulator
