// SPDX-License-Identifier: Apache-2.0
#include "tile/lowering.hpp"

namespace cudacore::tile {

int Lowering::warps(const Kernel& /*kernel*/) const { return 0; }

void Lowering::prepare(Kernel& /*kernel*/, const Target& /*target*/) const {}

std::optional<OperationLayouts> Lowering::layouts(const Operation& /*operation*/,
                                                  const Target& /*target*/) const {
  return std::nullopt;
}

void Lowering::rewrite(Kernel& /*kernel*/, const Target& /*target*/) const {}

std::optional<std::vector<Phase>> Lowering::effects(const Operation& /*operation*/) const {
  return std::nullopt;
}

bool Lowering::print(Printer& /*printer*/, const Operation& /*operation*/) const { return false; }

}  // namespace cudacore::tile
