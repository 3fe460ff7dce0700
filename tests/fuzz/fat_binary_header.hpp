// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

/// Bytes behind a valid header of a fat binary, so that its entries are reached without guessing
/// sizes.
[[nodiscard]] inline std::vector<std::uint8_t> with_fat_binary_header(
    std::span<const std::uint8_t> body) {
  std::vector<std::uint8_t> bytes = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  const std::uint64_t size = body.size();
  bytes.resize(16);
  std::memcpy(&bytes[8], &size, sizeof(size));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}
