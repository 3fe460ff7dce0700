// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>

// The last call that failed because of a capture, which it may have invalidated: the error at the
// end of the capture doesn't say.

namespace cudacore::error {

/// Notes a failed call, if it failed because of a capture.
void note_failed_capture(CUresult result, const std::string& message) noexcept;
/// ", by this call: cuStreamQuery failed on ..."; empty if nothing was noted.
[[nodiscard]] std::string failed_capture();
void forget_failed_capture() noexcept;

}  // namespace cudacore::error
