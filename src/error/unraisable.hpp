// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/driver_api.hpp"

// Failures that cannot be thrown: those of a deleter or of a callback.

namespace cudacore::handle {

using LogHook = void (*)(const char* message);

/// Sets what is told of them; null brings back the default, which writes to standard error.
void set_log_hook(LogHook hook) noexcept;
/// How many there were.
[[nodiscard]] unsigned long long unraisable_errors() noexcept;

/// Counts a failure that somebody has been told of already.
void count_unraisable() noexcept;
/// Counts a failure and tells the log hook. A sticky code only marks every context as lost, for the
/// next call to raise.
void report_unraisable(CUresult result, const char* function) noexcept;
void report_unraisable(const char* message) noexcept;

}  // namespace cudacore::handle
