// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/driver_api.hpp"

// Failures that cannot be thrown: those of a deleter or of a callback.

namespace cudacore::error {

using LogHook = void (*)(const char* message);

/// Sets the hook that they are passed to; null restores the default, which writes to standard
/// error.
void set_log_hook(LogHook hook) noexcept;
/// How many there have been.
[[nodiscard]] unsigned long long unraisable_errors() noexcept;

/// Counts a failure that has already been reported.
void count_unraisable() noexcept;
/// Counts a failure and calls the log hook. A sticky code only marks every context as lost, so that
/// the next call throws.
void report_unraisable(CUresult result, const char* function) noexcept;
void report_unraisable(const char* message) noexcept;

}  // namespace cudacore::error
