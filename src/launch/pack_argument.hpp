// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/argument.hpp"
#include "launch/kernel_box.hpp"

namespace cudacore {

/// Writes an argument as the bytes that `slot` declares, the slot of parameter `index`.
/// @throw TypeMismatchError, std::overflow_error.
void pack_argument(const handle::KernelBox& kernel, std::size_t index, const handle::Slot& slot,
                   const Argument& argument, void* place);

/// The parameter that an argument fits exactly, for a kernel whose parameters are unknown.
/// @throw TypeMismatchError for an argument that says no exact type.
[[nodiscard]] Param exact_param(const handle::KernelBox& kernel, std::size_t index,
                                const Argument& argument);

}  // namespace cudacore
