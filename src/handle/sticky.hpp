// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/driver_api.hpp"

namespace cudacore::handle {

struct ContextBox;

/// Whether a code tells that the context is unusable for good.
[[nodiscard]] bool is_sticky(CUresult result) noexcept;

/// Marks a context as lost and returns true; false where it was lost already.
bool mark_lost(ContextBox& context, CUresult result, const char* function);

/// "kernels launched since the last good synchronisation, newest last: a, b"; empty where none.
[[nodiscard]] std::string suspects(const ContextBox& context);

}  // namespace cudacore::handle
