// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launch/kernel_box.hpp"

// The messages for arguments that do not fit a kernel's parameters, used by every launcher. Indices
// count from 0; the messages count from 1.

namespace cudacore::launching {

/// "axpy<float>: argument 2 'x' (float const*) cannot take a double"; `given` includes the article.
[[nodiscard]] std::string mismatch_message(const KernelBox& kernel, std::size_t index,
                                           std::string_view given);
/// "axpy<float>: argument 4 'n' (int) cannot hold 4294967296: it takes -2147483648 to 2147483647"
[[nodiscard]] std::string overflow_message(const KernelBox& kernel, std::size_t index,
                                           std::string_view value);
/// "axpy<float> takes 4 arguments, but 3 were given: axpy<float>(float a, ...)"
[[nodiscard]] std::string count_message(const KernelBox& kernel, std::size_t given);
/// "axpy<float>: argument 1: what a plain number becomes is unknown ...", for a kernel without a
/// signature.
[[nodiscard]] std::string unknown_signature_message(const KernelBox& kernel, std::size_t index,
                                                    std::string_view given);

}  // namespace cudacore::launching
