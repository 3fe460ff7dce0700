// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

/// Loads the code that nvcc's descriptor points to: a fat binary, or several that nvcc left to be
/// linked at run time, as it does with PTX of relocatable code.
[[nodiscard]] Result load_code(const void* descriptor, CUlibrary& library);

}  // namespace cudacore::runtime
