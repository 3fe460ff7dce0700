// SPDX-License-Identifier: Apache-2.0
//
// The driver's error log: how users learn why a call was rejected or a kernel ended.
#pragma once

#include <string_view>

namespace cudacore::simulator {

/// Logs an error: it goes to the registered callbacks, to the file that CUDA_LOG_FILE names, and to
/// the newest 100 entries, which cuLogsDumpToMemory and cuLogsDumpToFile return. Callable from any
/// thread; holds no lock while callbacks run.
void log_error(std::string_view message) noexcept;
void log_warning(std::string_view message) noexcept;

}  // namespace cudacore::simulator
