// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cudacore/argument.hpp"
#include "launch/kernel_box.hpp"

namespace cudacore {

/// Writes an argument as the bytes that parameter `index` declares.
/// @throw TypeMismatchError, std::overflow_error.
void pack_argument(const handle::KernelBox& kernel, std::size_t index, const Argument& argument,
                   unsigned char* destination);

/// Rejects an argument without an exact type, for a kernel whose parameters are unknown.
/// @throw TypeMismatchError
void require_exact(const handle::KernelBox& kernel, std::size_t index, const Argument& argument);

}  // namespace cudacore
