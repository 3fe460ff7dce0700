// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "runtime/release_call.hpp"

namespace cudacore {

/// Frees memory after the work that may still use it is done, for functions that are not ordered on
/// streams. Responds to Ctrl-C if the caller can be told; a background thread then frees the
/// memory.
[[nodiscard]] CUresult free_after_work(
    const ReleaseCall& call, const std::function<CUresult(const driver::DriverApi&)>& free);

}  // namespace cudacore
