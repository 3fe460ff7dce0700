// SPDX-License-Identifier: Apache-2.0
#include "tile/registers.hpp"

#include <algorithm>

namespace cudacore::tile {

void check_registers(const Kernel& kernel, const Target& target) {
  // A thread has up to 255 registers, a multiprocessor 64 Ki.
  const std::int64_t most = std::min<std::int64_t>(255, 65536 / (std::int64_t{32} * target.warps));
  for_each_operation(kernel.body, [&](const Operation& operation) {
    if (operation.is("const") || operation.is("iota") || operation.is("broadcast")) return;
    for (const Value* const result : operation.results) {
      if (!result->type.is_tile() || result->shared) continue;
      const std::int64_t bytes_each =
          std::int64_t{result->layout.register_count()} * bytes(result->type.element);
      const std::int64_t registers = (bytes_each + 3) / 4;
      if (registers <= most) continue;
      throw kernel.error(operation.location,
                         "a tile of " + to_string(result->type) + " does not fit registers: with " +
                             std::to_string(32 * target.warps) + " threads, each would need " +
                             std::to_string(registers) + " registers for '" + operation.name +
                             "' alone, and has at most " + std::to_string(most));
    }
  });
}

}  // namespace cudacore::tile
