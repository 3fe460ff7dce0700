// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "cudacore/strided_memory.hpp"

namespace cudacore {

/// copy_strided() and fill_strided() for a function whose name begins the messages.
void copy_strided_for(const char* function, const StridedMemory& destination,
                      const StridedMemory& source, std::size_t item_size, const Stream& stream);
void fill_strided_for(const char* function, const StridedMemory& destination,
                      std::span<const std::byte> item, const Stream& stream);

}  // namespace cudacore
