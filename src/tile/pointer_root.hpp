// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// The memory that a pointer points into.
struct Root {
  const Value* parameter = nullptr;
  bool pointee = false;  ///< what pointers in the parameter's memory point to
  auto operator<=>(const Root&) const = default;
};
[[nodiscard]] Root pointer_root(const Value* pointer);

/// Gives one root to pointers that loops and branches may make equal, or that have a group in
/// common.
void join_pointers(Kernel& kernel);

}  // namespace cudacore::tile
