// SPDX-License-Identifier: Apache-2.0
//
// Reads any text as a program for the simulated device.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulator/engine/image.hpp"
#include "simulator/ops/isa.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sim = cudacore::simulator;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::vector<std::byte>> memory;
  const auto give = [&](std::size_t bytes, std::size_t, bool,
                        bool) -> std::optional<sim::Allocation> {
    if (bytes > std::size_t{1} << 20U) {
      return std::nullopt;
    }
    sim::Allocation piece;
    piece.host = memory.emplace_back(bytes).data();
    piece.address = 0x7000'0000'0000 + (memory.size() << 24U);
    piece.size = bytes;
    return piece;
  };
  try {
    static_cast<void>(sim::Image::load({&text, 1}, sim::best_forms(), {}, give));
  } catch (const sim::LoadError&) {
  }
  return 0;
}
