// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// Which sizes a caching pool deals in. Requests of each class are cut from segments of their own,
// so that a small buffer that lives long never keeps a large segment from being used whole, or from
// being returned. Within a class, the sizes are few, so that what was freed fits what comes next.

namespace cudacore {

enum class SizeClass : std::uint8_t { small, medium, large };
inline constexpr std::size_t size_classes = 3;

/// What a request becomes.
struct BlockSize {
  SizeClass kind = SizeClass::small;
  std::size_t bytes = 0;  ///< rounded up
};

struct SizeClassRules {
  std::size_t unit;     ///< sizes are multiples of it
  std::size_t segment;  ///< the size of a segment; requests above it get one of their own size
  std::size_t least;    ///< a rest below this size is not split off
};

inline constexpr std::size_t kibibyte = 1024;
inline constexpr std::size_t mebibyte = 1024 * kibibyte;
/// The largest requests of the first two classes. The sizes are PyTorch's, so that what is known
/// about its allocator holds; only, its class of large blocks starts at 1 MiB.
inline constexpr std::size_t small_most = mebibyte;
inline constexpr std::size_t medium_most = 10 * mebibyte;
/// The pages of the device, and the granularity in which drivers hand memory out.
inline constexpr std::size_t page = 2 * mebibyte;

inline constexpr std::array<SizeClassRules, size_classes> rules_of_classes{{
    {512, page, 512},
    {32 * kibibyte, 10 * page, small_most},
    {page, page, medium_most},
}};

[[nodiscard]] constexpr const SizeClassRules& rules_of(SizeClass kind) noexcept {
  return rules_of_classes[static_cast<std::size_t>(kind)];
}

/// From 32 units on, there are 32 sizes between a power of two and the next, so that rounding adds
/// some 3 %.
inline constexpr unsigned steps_bits = 5;

/// Sizes in units: up to 32 of them are all there, above that 32 for each doubling.
[[nodiscard]] constexpr unsigned step_bits(std::size_t units) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(units));
  return bits > steps_bits + 1 ? bits - steps_bits - 1 : 0;
}

/// @param bytes at most half of all addresses
[[nodiscard]] constexpr BlockSize block_size(std::size_t bytes) noexcept {
  const SizeClass kind = bytes <= small_most   ? SizeClass::small
                         : bytes < medium_most ? SizeClass::medium
                                               : SizeClass::large;
  const std::size_t unit = rules_of(kind).unit;
  const std::size_t units = (bytes + unit - 1) / unit;
  if (kind == SizeClass::large) return {kind, units * unit};  // 3 % would be gigabytes
  const std::size_t step = std::size_t{1} << step_bits(units);
  return {kind, (units + step - 1) / step * step * unit};
}

}  // namespace cudacore
