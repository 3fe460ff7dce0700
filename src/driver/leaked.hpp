// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace cudacore::driver {

/// The only T, which is never destroyed: objects and threads may outlive static destruction.
template <typename T>
[[nodiscard]] T& leaked() {
  static T& only = *std::make_unique<T>().release();
  return only;
}

}  // namespace cudacore::driver
