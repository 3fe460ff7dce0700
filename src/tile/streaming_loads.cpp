// SPDX-License-Identifier: Apache-2.0
#include "tile/streaming_loads.hpp"

#include <algorithm>

namespace cudacore::tile {

StreamingLoads::StreamingLoads(const Kernel& kernel) {
  for_each_operation(kernel.body, [&](const Operation& operation) {
    bool varies = operation.is("bid");
    for_each_operand(operation, [&](const Operand& operand) {
      varies = varies || varying_.contains(operand.value);
    });
    if (!varies) return;
    for (const Value* const result : operation.results) varying_.insert(result);
    for (const std::unique_ptr<Region>& region : operation.regions)
      varying_.insert(region->arguments.begin(), region->arguments.end());
  });
  for_each_operation(kernel.body, [&](const Operation& operation) {
    shares_loads_ = shares_loads_ || (operation.is("load") && operation.result()->type.is_tile() &&
                                      !varies(operation));
  });
}

bool StreamingLoads::varies(const Operation& load) const {
  const std::vector<Operand>& origin = load.group("origin");
  return std::any_of(origin.begin(), origin.end(),
                     [&](const Operand& operand) { return varying_.contains(operand.value); });
}

}  // namespace cudacore::tile
