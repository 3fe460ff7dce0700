// SPDX-License-Identifier: Apache-2.0
//
// How a texture is read at a point: coordinates, addressing and filtering, as the CUDA programming
// guide defines them (Texture Fetching).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulator/engine/machine.hpp"
#include "simulator/engine/texture.hpp"

namespace cudacore::simulator {

enum class Geometry : std::uint8_t { d1, d2, d3, a1d, a2d, cube, acube };

/// How many coordinates are filtered.
[[nodiscard]] constexpr unsigned dimensions_of(Geometry geometry) noexcept {
  switch (geometry) {
    case Geometry::d1:
    case Geometry::a1d:
      return 1;
    case Geometry::d3:
      return 3;
    default:
      return 2;
  }
}

/// What a register gets for each channel: the bits of a float, or an integer.
using TexelBits = std::array<std::uint32_t, 4>;

/// A place in a texture.
struct TexturePoint {
  std::array<float, 3> at{};
  std::uint32_t plane = 0;     ///< layer, or face, or 6 * layer + face
  bool is_normalized = false;  ///< coordinates from 0 to 1
};

/// The face of a cube that a direction meets, and where. The derivatives of the direction become
/// those of the place.
struct CubePoint {
  std::uint32_t face = 0;
  std::array<float, 2> at{};  ///< from 0 to 1
};
[[nodiscard]] CubePoint cube_point(const std::array<float, 3>& direction) noexcept;
/// How far the place moves, in faces, when the direction changes by `change`.
[[nodiscard]] std::array<float, 2> cube_gradient(const std::array<float, 3>& direction,
                                                 const std::array<float, 3>& change) noexcept;

/// Reads a texture for one lane. Functions return false after a fault.
class TextureReader {
 public:
  TextureReader(Warp& warp, const Instruction& in, const Texture& texture, unsigned dimensions,
                unsigned lane) noexcept
      : warp_(warp), in_(in), texture_(texture), dimensions_(dimensions), lane_(lane) {}

  /// Filtered, from the most detailed level.
  [[nodiscard]] bool sample(const TexturePoint& point, TexelBits& to) const noexcept {
    return sample_level(0, point, to);
  }
  /// Filtered within levels and between them; the sampler's bias and clamps apply.
  [[nodiscard]] bool sample_at(float level, const TexturePoint& point,
                               TexelBits& to) const noexcept;
  /// The level at which a gradient, in units of coordinates, is one element.
  [[nodiscard]] float level_of(const std::array<float, 3>& dx, const std::array<float, 3>& dy,
                               bool is_normalized) const noexcept;
  /// The element with these indices, which the address modes bring into range.
  [[nodiscard]] bool fetch(const std::array<std::int32_t, 3>& index, std::uint32_t plane,
                           TexelBits& to) const noexcept;
  /// One channel of the four elements that a linear filter would use, counterclockwise from the
  /// lower left.
  [[nodiscard]] bool gather(const TexturePoint& point, unsigned channel,
                            TexelBits& to) const noexcept;

 private:
  static constexpr std::int64_t outside = -1;
  using Indices = std::array<std::int64_t, 3>;
  /// The two elements around a coordinate; the weight of the second one in 1/256.
  struct Pair {
    std::array<std::int64_t, 2> index{};
    std::uint32_t weight = 0;
  };

  [[nodiscard]] std::uint32_t length(unsigned level, unsigned dimension) const noexcept;
  [[nodiscard]] AddressMode mode(unsigned dimension, bool is_normalized) const noexcept;
  [[nodiscard]] double place(unsigned level, const TexturePoint& point,
                             unsigned dimension) const noexcept;
  [[nodiscard]] Pair pair(unsigned level, const TexturePoint& point,
                          unsigned dimension) const noexcept;
  [[nodiscard]] bool sample_level(unsigned level, const TexturePoint& point,
                                  TexelBits& to) const noexcept;
  [[nodiscard]] bool sample_linear(unsigned level, const TexturePoint& point,
                                   TexelBits& to) const noexcept;
  /// Finds an element; null outside of the texture, where the border is.
  [[nodiscard]] bool locate(unsigned level, const Indices& index, std::uint32_t plane,
                            const std::byte*& from) const noexcept;
  [[nodiscard]] bool read(unsigned level, const Indices& index, std::uint32_t plane,
                          TexelBits& to) const noexcept;

  Warp& warp_;
  const Instruction& in_;
  const Texture& texture_;
  unsigned dimensions_;
  unsigned lane_;
};

}  // namespace cudacore::simulator
