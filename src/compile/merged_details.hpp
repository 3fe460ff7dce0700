// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cudacore/object_code.hpp"

namespace cudacore::compile {

/// What object codes say about the kernels in one that is made of them: each symbol, with what
/// all of them know about it, and each source once.
[[nodiscard]] ObjectCode::Details merged_details(std::span<const ObjectCode> inputs,
                                                 std::string name);

}  // namespace cudacore::compile
