// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "simulator/api/function_attributes.hpp"

namespace cudacore::simulator {

/// Blocks of a kernel that a multiprocessor holds at once: 0 where not one fits.
unsigned blocks_per_multiprocessor(const FunctionOnDevice& function, unsigned threads,
                                   std::size_t dynamic_shared) noexcept;

}  // namespace cudacore::simulator
