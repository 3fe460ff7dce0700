// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tile/kernel.hpp"
#include "tile/pointer_root.hpp"

namespace cudacore::tile {

/// A piece of memory that an operation reads or writes.
struct Access {
  bool writes = false;
  std::optional<Root> root{};  ///< of global memory; nothing for shared memory
  /// Which thread touches which element: accesses with the same text, not empty, touch each element
  /// with the same thread.
  std::string pattern;
  std::int64_t begin = 0;  ///< shared memory: the bytes from begin to end
  std::int64_t end = 0;
  [[nodiscard]] bool operator==(const Access&) const = default;
};

/// What an operation does between two places at which a barrier may stand.
struct Phase {
  std::vector<Access> accesses;
  /// The phase is a barrier of all threads itself, before its accesses.
  bool is_barrier = false;
};

class Lowering;

/// The phases of an operation without regions, in order.
[[nodiscard]] std::vector<Phase> effects(const Operation& operation, const Lowering& lowering);

/// Sets Operation::barriers: a barrier comes before each phase that touches what another thread may
/// have touched since the last barrier, where one of the two writes.
void place_barriers(Kernel& kernel, const Lowering& lowering);

}  // namespace cudacore::tile
