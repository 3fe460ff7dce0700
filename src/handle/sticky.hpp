// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "driver/driver_api.hpp"

namespace cudacore::handle {

struct ContextBox;

/// Whether a code tells that the context is unusable for good.
[[nodiscard]] bool is_sticky(CUresult result) noexcept;

/// Marks a context as lost and returns true; false where it was lost already. `logged` is what the
/// driver said of it.
bool mark_lost(ContextBox& context, CUresult result, const char* function,
               std::string_view logged = {});

/// Marks every context that this process has met as lost, and asks the driver for new ones from now
/// on: `function` has ended them.
void forget_contexts(const char* function);
/// Whether forget_contexts() was told of a context: nothing that it owned is left.
[[nodiscard]] bool is_forgotten(const ContextBox& context) noexcept;

/// "kernels launched since the last good synchronisation, newest last: a, b"; empty where none.
[[nodiscard]] std::string suspects(const ContextBox& context);

}  // namespace cudacore::handle
