// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays, as copies and kernels see them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cudacore::simulator {

/// The type of an element's channels.
enum class ChannelFormat : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };

[[nodiscard]] constexpr unsigned size_of(ChannelFormat format) noexcept {
  switch (format) {
    case ChannelFormat::u8:
    case ChannelFormat::s8:
      return 1;
    case ChannelFormat::u16:
    case ChannelFormat::s16:
    case ChannelFormat::f16:
      return 2;
    default:
      return 4;
  }
}

/// An array, or a level of a mipmapped array: elements in rows, rows in planes.
struct Array {
  ChannelFormat format = ChannelFormat::u8;
  std::uint8_t channels = 1;  ///< 1, 2 or 4
  bool is_layered = false;    ///< planes are layers
  bool is_cube = false;       ///< planes are faces, or the faces of one cube after another
  bool has_surfaces = false;  ///< CUDA_ARRAY3D_SURFACE_LDST
  bool has_gather = false;    ///< CUDA_ARRAY3D_TEXTURE_GATHER
  int device = 0;             ///< ordinal
  std::uint32_t width = 0;    ///< elements
  std::uint32_t height = 0;   ///< rows; 0 without a second dimension
  std::uint32_t depth = 0;    ///< planes; 0 without a third dimension
  std::byte* bytes = nullptr;
  std::atomic<bool> destroyed{false};  ///< what still refers to it must not access the bytes

  [[nodiscard]] std::uint32_t rows() const noexcept { return std::max(height, 1U); }
  [[nodiscard]] std::uint32_t planes() const noexcept { return std::max(depth, 1U); }
  [[nodiscard]] std::size_t element_size() const noexcept {
    return std::size_t{channels} * size_of(format);
  }
  /// The distance of rows in bytes.
  [[nodiscard]] std::size_t row_size() const noexcept { return width * element_size(); }
  /// The distance of planes in bytes.
  [[nodiscard]] std::size_t plane_size() const noexcept { return row_size() * rows(); }
  [[nodiscard]] std::size_t size() const noexcept { return plane_size() * planes(); }
};

}  // namespace cudacore::simulator
