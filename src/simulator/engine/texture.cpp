// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/texture.hpp"

namespace cudacore::simulator {

// Never destroyed: workers may still run at exit.
ObjectTable<Texture>& textures() noexcept {
  static auto& table = *std::make_unique<ObjectTable<Texture>>(std::uint64_t{1} << 40).release();
  return table;
}

ObjectTable<Surface>& surfaces() noexcept {
  static auto& table = *std::make_unique<ObjectTable<Surface>>(std::uint64_t{1} << 41).release();
  return table;
}

}  // namespace cudacore::simulator
