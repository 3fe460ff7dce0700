// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Tells what each block loads for itself from what all blocks load.
class StreamingLoads {
 public:
  explicit StreamingLoads(const Kernel& kernel);

  /// Whether blocks load other elements each, while there are loads that give all blocks the same:
  /// these should keep the first level of the cache.
  [[nodiscard]] bool has(const Operation& load) const { return shares_loads_ && varies(load); }

  /// Whether some load gives all blocks the same elements, such as the weights of rows.
  [[nodiscard]] bool shares_loads() const { return shares_loads_; }

 private:
  [[nodiscard]] bool varies(const Operation& load) const;

  std::set<const Value*> varying_;  // values that other blocks compute otherwise
  bool shares_loads_ = false;
};

}  // namespace cudacore::tile
