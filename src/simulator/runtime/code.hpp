// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

/// Loads the code that a descriptor of nvcc's points to: a fat binary, or several that nvcc left to
/// be linked when the program runs, as it does with PTX of relocatable code.
[[nodiscard]] Result load_code(const void* descriptor, CUlibrary& library);

}  // namespace cudacore::runtime
