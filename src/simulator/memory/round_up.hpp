// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace cudacore::simulator {

/// The least multiple of `multiple` that is not less than the value. It must not overflow.
template <class Value, class Multiple>
[[nodiscard]] constexpr std::common_type_t<Value, Multiple> round_up(Value value,
                                                                     Multiple multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace cudacore::simulator
