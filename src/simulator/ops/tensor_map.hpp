// SPDX-License-Identifier: Apache-2.0
//
// What the simulated device writes into the 128 bytes of a CUtensorMap. Dimensions count from the
// innermost one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudacore::simulator {

/// The numbers are those of CUtensorMapDataType, whose order PTX doesn't share.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
};

[[nodiscard]] constexpr unsigned size_of(TensorType type) noexcept {
  constexpr std::array<unsigned, 13> sizes{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return sizes[static_cast<std::size_t>(type)];
}

[[nodiscard]] constexpr bool is_floating(TensorType type) noexcept {
  return type >= TensorType::f16;
}

enum class TensorMode : std::uint8_t { tiled, im2col };

/// A kernel may copy it, so nothing in it depends on where it lies.
struct TensorMap {
  static constexpr std::size_t most_dimensions = 5;
  static constexpr std::uint32_t valid = 0x70616d74;

  std::uint64_t address = 0;
  std::array<std::uint64_t, most_dimensions - 1>
      strides{};                                          ///< bytes, from the second dimension on
  std::array<std::uint64_t, most_dimensions> lengths{};   ///< elements
  std::uint32_t tag = 0;                                  ///< valid, or anything else
  std::uint16_t channels = 0;                             ///< of a pixel: im2col
  std::uint16_t pixels = 0;                               ///< of a column: im2col
  std::array<std::uint16_t, most_dimensions> box{};       ///< elements: tiled
  std::array<std::int16_t, most_dimensions - 2> lower{};  ///< corners: im2col
  std::array<std::int16_t, most_dimensions - 2> upper{};
  std::array<std::uint8_t, most_dimensions> steps{};  ///< between the elements that are copied
  TensorType type = TensorType::u8;
  TensorMode mode = TensorMode::tiled;
  std::uint8_t rank = 0;
  std::uint8_t interleave = 0;  ///< slices of 0, 16 or 32 bytes
  std::uint8_t swizzle = 0;     ///< spans of 0, 32, 64 or 128 bytes
  bool fills_with_nan = false;
  std::array<std::uint8_t, 7> unused{};
};
static_assert(sizeof(TensorMap) == 128);

}  // namespace cudacore::simulator
