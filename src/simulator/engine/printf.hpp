// SPDX-License-Identifier: Apache-2.0
//
// printf in kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Reads the memory of a lane through generic addresses. If it returns false, the grid has a fault.
class LaneReader {
 public:
  LaneReader(Warp& warp, const Instruction& instruction, unsigned lane) noexcept
      : warp_(warp), instruction_(instruction), lane_(lane) {}

  [[nodiscard]] bool read(std::uint64_t address, void* to, std::size_t size);
  /// Text up to a NUL, or up to `most` bytes.
  [[nodiscard]] bool read_text(std::uint64_t address, std::string& text,
                               std::size_t most = std::size_t{1} << 20);

 private:
  Warp& warp_;
  const Instruction& instruction_;
  unsigned lane_;
};

/// What a format and its packed arguments print. A conversion that C doesn't have is printed
/// unchanged. Returns the number of arguments; nothing after a fault.
[[nodiscard]] std::optional<int> format_text(LaneReader& reader, const std::string& format,
                                             std::uint64_t arguments, std::string& output);

}  // namespace cudacore::simulator
