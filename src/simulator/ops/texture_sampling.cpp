// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/texture_sampling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simulator/engine/memory_access.hpp"
#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {
namespace {

/// Weights have eight bits of fraction.
constexpr unsigned weight_bits = 8;
constexpr std::int64_t weight_one = 1 << weight_bits;

/// Coordinates beyond this are outside of any texture; it keeps conversions to integers defined.
constexpr double far_away = 0x1p32;

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

std::uint32_t bits_of(float value) noexcept { return std::bit_cast<std::uint32_t>(value); }
float float_of(std::uint32_t bits) noexcept { return std::bit_cast<float>(bits); }

/// From the sRGB standard.
float linear_of_srgb(float value) noexcept {
  return value <= 0.04045F ? value / 12.92F : std::pow((value + 0.055F) / 1.055F, 2.4F);
}

bool is_small_integer(ChannelFormat format) noexcept {
  return format == ChannelFormat::u8 || format == ChannelFormat::s8 ||
         format == ChannelFormat::u16 || format == ChannelFormat::s16;
}

bool reads_floats(const Texture& texture) noexcept {
  return texture.format == ChannelFormat::f16 || texture.format == ChannelFormat::f32 ||
         (is_small_integer(texture.format) && !texture.sampler.reads_elements);
}

std::int32_t small_integer(ChannelFormat format, const std::byte* at) noexcept {
  switch (format) {
    case ChannelFormat::u8:
      return load<std::uint8_t>(at);
    case ChannelFormat::s8:
      return load<std::int8_t>(at);
    case ChannelFormat::u16:
      return load<std::uint16_t>(at);
    default:
      return load<std::int16_t>(at);
  }
}

float largest(ChannelFormat format) noexcept {
  switch (format) {
    case ChannelFormat::u8:
      return 255;
    case ChannelFormat::s8:
      return 127;
    case ChannelFormat::u16:
      return 65535;
    default:
      return 32767;
  }
}

std::uint32_t channel_bits(const Texture& texture, unsigned channel, const std::byte* at) noexcept {
  if (texture.format == ChannelFormat::f16) return bits_of(F16::widen(load<std::uint16_t>(at)));
  if (!is_small_integer(texture.format)) return load<std::uint32_t>(at);
  const std::int32_t value = small_integer(texture.format, at);
  if (texture.sampler.reads_elements) return static_cast<std::uint32_t>(value);
  const float ratio = std::max(static_cast<float>(value) / largest(texture.format), -1.0F);
  const bool is_color = texture.sampler.is_srgb && texture.format == ChannelFormat::u8;
  return bits_of(is_color && channel < 3 ? linear_of_srgb(ratio) : ratio);
}

/// What missing channels are read as.
TexelBits empty_texel(const Texture& texture) noexcept {
  return {0, 0, 0, reads_floats(texture) ? bits_of(1.0F) : 1U};
}

TexelBits border_texel(const Texture& texture) noexcept {
  TexelBits bits = empty_texel(texture);
  const bool has_color = texture.source != TextureSource::linear;
  for (std::size_t i = 0; i < texture.channels; ++i) {
    bits.at(i) = has_color ? bits_of(texture.sampler.border.at(i)) : 0;
  }
  return bits;
}

std::int64_t modulo(std::int64_t value, std::int64_t divisor) noexcept {
  const std::int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

/// Brings an index into range; -1 if it is outside.
std::int64_t addressed(std::int64_t index, std::int64_t length, AddressMode mode) noexcept {
  switch (mode) {
    case AddressMode::clamp:
      return std::clamp<std::int64_t>(index, 0, length - 1);
    case AddressMode::wrap:
      return modulo(index, length);
    case AddressMode::mirror: {
      const std::int64_t rest = modulo(index, 2 * length);
      return rest < length ? rest : 2 * length - 1 - rest;
    }
    default:
      return index >= 0 && index < length ? index : -1;
  }
}

/// Of a value within the range of integers.
std::int64_t floor_of(double value) noexcept {
  const auto toward_zero = static_cast<std::int64_t>(value);
  return toward_zero - (static_cast<double>(toward_zero) > value ? 1 : 0);
}

/// The weights of the elements around a point, in units; a bit of the index for each dimension.
struct CornerWeights {
  std::array<std::int64_t, 8> of{};
  double unit = 0;
};

CornerWeights corner_weights(const std::array<std::int64_t, 3>& second, unsigned dimensions) {
  const auto [x, y, z] = second;
  constexpr double one = static_cast<double>(weight_one);
  if (dimensions == 1) return {{weight_one - x, x}, 1 / one};
  if (dimensions == 2) {
    // GPUs round the product as well: NVIDIA's reference images come out bit for bit.
    const std::int64_t both = (x * y + weight_one / 2) >> weight_bits;
    return {{weight_one - x - y + both, x - both, y - both, both}, 1 / one};
  }
  CornerWeights weights{{}, 1 / (one * one * one)};
  for (unsigned corner = 0; corner < weights.of.size(); ++corner) {
    weights.of[corner] = ((corner & 1) != 0 ? x : weight_one - x) *
                         ((corner & 2) != 0 ? y : weight_one - y) *
                         ((corner & 4) != 0 ? z : weight_one - z);
  }
  return weights;
}

/// The parts of a direction on the face that it meets: across, down, and the axis.
struct FacePoint {
  std::uint32_t face = 0;
  float s = 0;
  float t = 0;
  float m = 0;
};

/// The programming guide's table of faces, applied to any vector.
FacePoint on_face(std::uint32_t face, const std::array<float, 3>& v) noexcept {
  const auto [x, y, z] = v;
  switch (face) {
    case 0:
      return {face, -z, -y, x};
    case 1:
      return {face, z, -y, -x};
    case 2:
      return {face, x, z, y};
    case 3:
      return {face, x, -z, -y};
    case 4:
      return {face, x, -y, z};
    default:
      return {face, -x, -y, -z};
  }
}

std::uint32_t face_of(const std::array<float, 3>& v) noexcept {
  const float x = std::fabs(v[0]);
  const float y = std::fabs(v[1]);
  const float z = std::fabs(v[2]);
  if (x >= y && x >= z) return v[0] >= 0 ? 0 : 1;
  if (y >= z) return v[1] >= 0 ? 2 : 3;
  return v[2] >= 0 ? 4 : 5;
}

}  // namespace

CubePoint cube_point(const std::array<float, 3>& direction) noexcept {
  const FacePoint point = on_face(face_of(direction), direction);
  const auto along = [&](float part) {
    const float ratio = part / point.m;
    return std::isnan(ratio) ? 0.5F : (ratio + 1) / 2;
  };
  return {point.face, {along(point.s), along(point.t)}};
}

std::array<float, 2> cube_gradient(const std::array<float, 3>& direction,
                                   const std::array<float, 3>& change) noexcept {
  const FacePoint point = on_face(face_of(direction), direction);
  const FacePoint moved = on_face(point.face, change);
  const auto along = [&](float part, float part_change) {
    return (part_change * point.m - part * moved.m) / (2 * point.m * point.m);
  };
  return {along(point.s, moved.s), along(point.t, moved.t)};
}

std::uint32_t TextureReader::length(unsigned level, unsigned dimension) const noexcept {
  if (texture_.source != TextureSource::array) {
    return dimension == 0 ? texture_.width : texture_.height;
  }
  const Array& array = *texture_.levels[level];
  return dimension == 0 ? array.width : dimension == 1 ? array.rows() : array.planes();
}

AddressMode TextureReader::mode(unsigned dimension, bool is_normalized) const noexcept {
  if (texture_.source == TextureSource::linear) return AddressMode::border;
  const AddressMode mode = texture_.sampler.modes[dimension];
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return repeats && !is_normalized ? AddressMode::clamp : mode;
}

double TextureReader::place(unsigned level, const TexturePoint& point,
                            unsigned dimension) const noexcept {
  double x = point.at[dimension];
  if (point.is_normalized) {
    const AddressMode how = mode(dimension, true);
    // Both modes repeat after two lengths.
    if (how == AddressMode::wrap || how == AddressMode::mirror) x -= 2 * std::floor(x / 2);
    x *= length(level, dimension);
  }
  return std::isnan(x) ? 0 : std::clamp(x, -far_away, far_away);
}

TextureReader::Pair TextureReader::pair(unsigned level, const TexturePoint& point,
                                        unsigned dimension) const noexcept {
  const double between = place(level, point, dimension) - 0.5;
  const std::int64_t fixed = floor_of(between * static_cast<double>(weight_one) + 0.5);
  const std::int64_t first = fixed >> weight_bits;
  const AddressMode how = mode(dimension, point.is_normalized);
  const std::int64_t count = length(level, dimension);
  return {{addressed(first, count, how), addressed(first + 1, count, how)},
          static_cast<std::uint32_t>(fixed & (weight_one - 1))};
}

bool TextureReader::locate(unsigned level, const Indices& index, std::uint32_t plane,
                           const std::byte*& from) const noexcept {
  from = nullptr;
  for (unsigned i = 0; i < dimensions_; ++i) {
    if (index[i] == outside) return true;
  }
  const auto x = static_cast<std::size_t>(index[0]);
  const std::size_t y = dimensions_ > 1 ? static_cast<std::size_t>(index[1]) : 0;
  const std::size_t z = dimensions_ > 2 ? static_cast<std::size_t>(index[2]) : plane;
  const std::size_t element = texture_.element_size();
  if (texture_.source == TextureSource::array) {
    const Array& array = *texture_.levels[level];
    from = array.bytes + ((z * array.rows() + y) * array.width + x) * element;
    return true;
  }
  from = resolve(warp_, in_, Space::global, texture_.address + y * texture_.pitch + x * element,
                 element, Access::read, lane_);
  return from != nullptr;
}

bool TextureReader::read(unsigned level, const Indices& index, std::uint32_t plane,
                         TexelBits& to) const noexcept {
  const std::byte* from = nullptr;
  if (!locate(level, index, plane, from)) return false;
  if (from == nullptr) {
    to = border_texel(texture_);
    return true;
  }
  to = empty_texel(texture_);
  const unsigned size = size_of(texture_.format);
  for (unsigned i = 0; i < texture_.channels; ++i) {
    to[i] = channel_bits(texture_, i, from + std::size_t{i} * size);
  }
  return true;
}

bool TextureReader::sample_linear(unsigned level, const TexturePoint& point,
                                  TexelBits& to) const noexcept {
  std::array<Pair, 3> pairs{};
  for (unsigned i = 0; i < dimensions_; ++i) pairs[i] = pair(level, point, i);
  const CornerWeights weights =
      corner_weights({pairs[0].weight, pairs[1].weight, pairs[2].weight}, dimensions_);
  const unsigned size = size_of(texture_.format);
  std::array<double, 4> sum{};
  for (unsigned corner = 0; corner < 1U << dimensions_; ++corner) {
    // An infinite element without weight must not make a NaN.
    if (weights.of[corner] == 0) continue;
    Indices index{};
    for (unsigned i = 0; i < dimensions_; ++i) index[i] = pairs[i].index[corner >> i & 1];
    const std::byte* from = nullptr;
    if (!locate(level, index, point.plane, from)) return false;
    for (unsigned i = 0; i < texture_.channels; ++i) {
      const float value = from != nullptr ? float_of(channel_bits(texture_, i, from + i * size))
                                          : texture_.sampler.border[i];
      sum[i] += static_cast<double>(weights.of[corner]) * double{value};
    }
  }
  to = empty_texel(texture_);
  for (unsigned i = 0; i < texture_.channels; ++i) {
    to[i] = bits_of(static_cast<float>(sum[i] * weights.unit));
  }
  return true;
}

bool TextureReader::sample_level(unsigned level, const TexturePoint& point,
                                 TexelBits& to) const noexcept {
  if (texture_.sampler.is_linear && texture_.source != TextureSource::linear) {
    return sample_linear(level, point, to);
  }
  Indices index{};
  for (unsigned i = 0; i < dimensions_; ++i) {
    index.at(i) =
        addressed(floor_of(place(level, point, i)), length(level, i), mode(i, point.is_normalized));
  }
  return read(level, index, point.plane, to);
}

bool TextureReader::sample_at(float level, const TexturePoint& point,
                              TexelBits& to) const noexcept {
  const Sampler& sampler = texture_.sampler;
  const float in_range =
      std::min(std::max(level + sampler.level_bias, sampler.least_level), sampler.most_level);
  const auto last = texture_.source == TextureSource::array
                        ? static_cast<unsigned>(texture_.levels.size() - 1)
                        : 0U;
  const double existing = std::isnan(in_range) ? 0 : std::clamp<double>(in_range, 0, last);
  if (!sampler.is_linear_mipmap) {
    return sample_level(std::min(static_cast<unsigned>(floor_of(existing + 0.5)), last), point, to);
  }
  const std::int64_t fixed = floor_of(existing * static_cast<double>(weight_one) + 0.5);
  const auto first = static_cast<unsigned>(fixed >> weight_bits);
  const auto second = static_cast<double>(fixed & (weight_one - 1)) / weight_one;
  if (!sample_level(first, point, to)) return false;
  if (second == 0) return true;
  TexelBits coarse{};
  if (!sample_level(first + 1, point, coarse)) return false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double mixed =
        (1 - second) * double{float_of(to.at(i))} + second * double{float_of(coarse.at(i))};
    to.at(i) = bits_of(static_cast<float>(mixed));
  }
  return true;
}

float TextureReader::level_of(const std::array<float, 3>& dx, const std::array<float, 3>& dy,
                              bool is_normalized) const noexcept {
  double longest = 0;
  for (const auto& gradient : {dx, dy}) {
    double square = 0;
    for (unsigned i = 0; i < dimensions_; ++i) {
      const double scaled = double{gradient.at(i)} * (is_normalized ? length(0, i) : 1);
      square += scaled * scaled;
    }
    longest = std::max(longest, square);
  }
  return static_cast<float>(std::log2(longest) / 2);
}

bool TextureReader::fetch(const std::array<std::int32_t, 3>& index, std::uint32_t plane,
                          TexelBits& to) const noexcept {
  Indices inside{};
  for (unsigned i = 0; i < dimensions_; ++i) {
    inside.at(i) = addressed(index.at(i), length(0, i), mode(i, false));
  }
  return read(0, inside, plane, to);
}

bool TextureReader::gather(const TexturePoint& point, unsigned channel,
                           TexelBits& to) const noexcept {
  const Pair x = pair(0, point, 0);
  const Pair y = pair(0, point, 1);
  constexpr std::array<std::array<std::size_t, 2>, 4> counterclockwise{
      {{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  for (std::size_t i = 0; i < counterclockwise.size(); ++i) {
    const auto [right, up] = counterclockwise.at(i);
    TexelBits texel{};
    if (!read(0, {x.index.at(right), y.index.at(up), 0}, point.plane, texel)) return false;
    to.at(i) = texel.at(channel);
  }
  return true;
}

}  // namespace cudacore::simulator
