// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace cudacore::owner {

/// The box of an object; the object must not be closed.
/// @throw std::invalid_argument
template <typename Box>
[[nodiscard]] Box& require_open(const std::shared_ptr<Box>& box, const char* what) {
  if (box == nullptr) [[unlikely]] {
    throw std::invalid_argument(std::string("this ") + what + " is closed");
  }
  return *box;
}

}  // namespace cudacore::owner
