// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Code as bytes and as text, and what it begins with.

namespace cudacore::signature {

[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// A text without the NULs that compilers end it with.
[[nodiscard]] inline std::string without_nul(std::string text) {
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

inline constexpr std::string_view elf_magic = "\x7f\x45LF";
inline constexpr std::string_view fatbin_magic = "\x50\xed\x55\xba";
inline constexpr std::uint16_t elf_machine_cuda = 190;

}  // namespace cudacore::signature
