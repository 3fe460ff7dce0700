// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "simulator/api/code/function_attributes.hpp"

namespace cudacore::simulator {

/// How many blocks of a kernel fit on a multiprocessor at once; may be 0.
unsigned blocks_per_multiprocessor(const FunctionOnDevice& function, unsigned threads,
                                   std::size_t dynamic_shared) noexcept;

}  // namespace cudacore::simulator
