// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches and queries, by the handles of texture objects.
#include "simulator/ops/textures.hpp"

#include <algorithm>

#include "simulator/ops/texture_handles.hpp"
#include "simulator/ops/texture_sampling.hpp"

namespace cudacore::simulator {
namespace {

enum class Detail : std::uint8_t { base, level, gradient };

constexpr bool is_cube(Geometry geometry) noexcept {
  return geometry == Geometry::cube || geometry == Geometry::acube;
}

/// Whether the first coordinate is a layer.
constexpr bool has_layer(Geometry geometry) noexcept {
  return geometry == Geometry::a1d || geometry == Geometry::a2d || geometry == Geometry::acube;
}

/// Whether a texture has the geometry that an instruction reads.
bool has_geometry(const Texture& texture, Geometry geometry) noexcept {
  if (texture.source == TextureSource::linear) return geometry == Geometry::d1;
  if (texture.source == TextureSource::pitched) return geometry == Geometry::d2;
  const Array& array = *texture.levels.front();
  switch (geometry) {
    case Geometry::d1:
      return array.height == 0 && array.depth == 0;
    case Geometry::d2:
      return array.height != 0 && array.depth == 0;
    case Geometry::d3:
      return array.depth != 0 && !array.is_layered && !array.is_cube;
    case Geometry::a1d:
      return array.is_layered && array.height == 0;
    case Geometry::a2d:
      return array.height != 0 && (array.is_layered || array.is_cube);
    case Geometry::cube:
      return array.is_cube && !array.is_layered;
    case Geometry::acube:
      return array.is_cube && array.is_layered;
  }
  return false;
}

const Texture* find_texture(Warp& warp, const Instruction& in, HandleLookup<Texture>& lookup,
                            Geometry geometry, unsigned lane) {
  const Texture* texture = lookup.find(lane);
  if (texture == nullptr || has_geometry(*texture, geometry)) return texture;
  refuse_object(warp, in, lane, "reads a texture of another geometry");
  return nullptr;
}

/// The plane that a layer is, or begins at: layers are clamped.
std::uint32_t plane_of(const Texture& texture, std::uint32_t layer, std::uint32_t planes_each) {
  const std::uint32_t count = texture.layers / planes_each;
  return texture.first_layer + std::min(layer, count - 1) * planes_each;
}

void write_texel(const Warp& warp, const Instruction& in, const TexelBits& bits, unsigned lane) {
  for (unsigned i = 0; i < bits.size(); ++i) {
    warp.row<std::uint32_t>(in.list[in.op[0] + i])[lane] = bits.at(i);
  }
}

/// Coordinates that follow a layer, if there is one.
template <class T>
std::array<T, 3> coordinates(const Warp& warp, const Instruction& in, Geometry geometry,
                             unsigned lane) {
  const unsigned count = is_cube(geometry) ? 3 : dimensions_of(geometry);
  const unsigned first = has_layer(geometry) ? 1 : 0;
  std::array<T, 3> at{};
  for (unsigned i = 0; i < count; ++i) at.at(i) = element_of<T>(warp, in, 3, first + i, lane);
  return at;
}

std::array<float, 3> gradient(const Warp& warp, const Instruction& in, Geometry geometry,
                              unsigned operand, unsigned lane) {
  const unsigned count = is_cube(geometry) ? 3 : dimensions_of(geometry);
  std::array<float, 3> change{};
  for (unsigned i = 0; i < count; ++i) {
    change.at(i) = element_of<float>(warp, in, operand, i, lane);
  }
  return change;
}

std::array<float, 3> flat(const std::array<float, 2>& change) { return {change[0], change[1], 0}; }

/// d|p, [texture, {coordinates}]{, level | dx, dy}
template <Geometry geometry, Detail detail>
bool sample_lane(Warp& warp, const Instruction& in, const Texture& texture, unsigned lane) {
  const std::uint32_t layer =
      has_layer(geometry) ? element_of<std::uint32_t>(warp, in, 3, 0, lane) : 0;
  const std::array<float, 3> at = coordinates<float>(warp, in, geometry, lane);
  const TextureReader reader(warp, in, texture, dimensions_of(geometry), lane);
  TexturePoint point{at, 0, texture.sampler.is_normalized};
  if constexpr (is_cube(geometry)) {
    const CubePoint on_cube = cube_point(at);
    point = {flat(on_cube.at), on_cube.face, true};
  }
  if (has_layer(geometry)) point.plane += plane_of(texture, layer, is_cube(geometry) ? 6 : 1);
  TexelBits bits{};
  bool is_read = false;
  if constexpr (detail == Detail::base) {
    is_read = reader.sample(point, bits);
  } else if constexpr (detail == Detail::level) {
    is_read = reader.sample_at(warp.row<float>(in.op[4])[lane], point, bits);
  } else {
    std::array<float, 3> dx = gradient(warp, in, geometry, 4, lane);
    std::array<float, 3> dy = gradient(warp, in, geometry, 5, lane);
    if constexpr (is_cube(geometry)) {
      dx = flat(cube_gradient(at, dx));
      dy = flat(cube_gradient(at, dy));
    }
    is_read = reader.sample_at(reader.level_of(dx, dy, point.is_normalized), point, bits);
  }
  if (is_read) write_texel(warp, in, bits, lane);
  return is_read;
}

template <Geometry geometry, Detail detail>
void sample(Warp& warp, const Instruction& in) {
  HandleLookup<Texture> lookup(warp, in, 2);
  warp.set_mask(in.op[1], warp.enabled(in), all_lanes);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Texture* texture = find_texture(warp, in, lookup, geometry, lane);
    return texture != nullptr && sample_lane<geometry, detail>(warp, in, *texture, lane);
  });
}

/// The same with indices of elements.
template <Geometry geometry>
void fetch(Warp& warp, const Instruction& in) {
  HandleLookup<Texture> lookup(warp, in, 2);
  warp.set_mask(in.op[1], warp.enabled(in), all_lanes);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Texture* texture = find_texture(warp, in, lookup, geometry, lane);
    if (texture == nullptr) return false;
    const std::uint32_t layer =
        has_layer(geometry) ? element_of<std::uint32_t>(warp, in, 3, 0, lane) : 0;
    const TextureReader reader(warp, in, *texture, dimensions_of(geometry), lane);
    TexelBits bits{};
    if (!reader.fetch(coordinates<std::int32_t>(warp, in, geometry, lane),
                      has_layer(geometry) ? plane_of(*texture, layer, 1) : 0, bits)) {
      return false;
    }
    write_texel(warp, in, bits, lane);
    return true;
  });
}

template <unsigned channel>
void gather(Warp& warp, const Instruction& in) {
  HandleLookup<Texture> lookup(warp, in, 2);
  warp.set_mask(in.op[1], warp.enabled(in), all_lanes);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Texture* texture = find_texture(warp, in, lookup, Geometry::d2, lane);
    if (texture == nullptr) return false;
    if (texture->levels.empty() || !texture->levels.front()->has_gather) {
      refuse_object(warp, in, lane,
                    "gathers from a texture whose array was made without "
                    "CUDA_ARRAY3D_TEXTURE_GATHER");
      return false;
    }
    const TextureReader reader(warp, in, *texture, 2, lane);
    TexelBits bits{};
    if (!reader.gather(
            {coordinates<float>(warp, in, Geometry::d2, lane), 0, texture->sampler.is_normalized},
            channel, bits)) {
      return false;
    }
    write_texel(warp, in, bits, lane);
    return true;
  });
}

enum class TextureQuery : std::uint8_t { width, height, depth, layers, levels, normalized };

std::uint32_t answer(const Texture& texture, TextureQuery query, std::size_t level) {
  const Array* array = texture.levels.empty() ? nullptr : texture.levels[level].get();
  switch (query) {
    case TextureQuery::width:
      return array != nullptr ? array->width : texture.width;
    case TextureQuery::height:
      return array != nullptr ? array->height : texture.height;
    case TextureQuery::depth:
      return array != nullptr && !array->is_layered && !array->is_cube ? array->depth : 0;
    case TextureQuery::layers:
      if (array == nullptr || !array->is_layered) return 0;
      return array->is_cube ? texture.layers / 6 : texture.layers;
    case TextureQuery::levels:
      return array != nullptr ? static_cast<std::uint32_t>(texture.levels.size()) : 1;
    case TextureQuery::normalized:
      return texture.sampler.is_normalized ? 1 : 0;
  }
  return 0;
}

/// d, [texture]{, level}
template <TextureQuery query, bool has_level>
void ask(Warp& warp, const Instruction& in) {
  HandleLookup<Texture> lookup(warp, in, 1);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Texture* texture = lookup.find(lane);
    if (texture == nullptr) return false;
    const std::uint32_t level = has_level ? warp.row<std::uint32_t>(in.op[2])[lane] : 0;
    const std::size_t last = std::max<std::size_t>(texture->levels.size(), 1) - 1;
    warp.row<std::uint32_t>(in.op[0])[lane] =
        answer(*texture, query, std::min<std::size_t>(level, last));
    return true;
  });
}

constexpr const char* name_of(Geometry geometry) noexcept {
  switch (geometry) {
    case Geometry::d1:
      return ".1d";
    case Geometry::d2:
      return ".2d";
    case Geometry::d3:
      return ".3d";
    case Geometry::a1d:
      return ".a1d";
    case Geometry::a2d:
      return ".a2d";
    case Geometry::cube:
      return ".cube";
    case Geometry::acube:
      return ".acube";
  }
  return "";
}

/// How many elements the vector of coordinates has, and those of gradients.
constexpr const char* coordinate_count(Geometry geometry) noexcept {
  switch (geometry) {
    case Geometry::d1:
      return "1w";
    case Geometry::d2:
    case Geometry::a1d:
      return "2w";
    default:
      return "4w";
  }
}

constexpr const char* gradient_count(Geometry geometry) noexcept {
  switch (geometry) {
    case Geometry::d1:
    case Geometry::a1d:
      return "1w";
    case Geometry::d2:
    case Geometry::a2d:
      return "2w";
    default:
      return "4w";
  }
}

template <Geometry geometry>
void add_geometry(FormTable& table) {
  const std::string plain = std::string("4w|pm") + coordinate_count(geometry);
  const std::string gradients = plain + gradient_count(geometry) + gradient_count(geometry);
  const auto add = [&](const char* mnemonic, const char* type, const char* coordinates,
                       const std::string& signature, Handler run) {
    table.add({mnemonic, name_of(geometry), ".v4", type, coordinates}, signature.c_str(), run);
  };
  for (const char* type : {".u32", ".s32", ".f32"}) {
    add("tex", type, ".f32", plain, &sample<geometry, Detail::base>);
    add("tex.base", type, ".f32", plain, &sample<geometry, Detail::base>);
    add("tex.level", type, ".f32", plain + "w", &sample<geometry, Detail::level>);
    add("tex.grad", type, ".f32", gradients, &sample<geometry, Detail::gradient>);
    if constexpr (!is_cube(geometry)) {
      add("tex", type, ".s32", plain, &fetch<geometry>);
      add("tex.base", type, ".s32", plain, &fetch<geometry>);
    }
  }
}

void add_gathers(FormTable& table) {
  for (const char* type : {".u32", ".s32", ".f32"}) {
    table.add({"tld4.r.2d.v4", type, ".f32"}, "4w|pm2w", &gather<0>);
    table.add({"tld4.g.2d.v4", type, ".f32"}, "4w|pm2w", &gather<1>);
    table.add({"tld4.b.2d.v4", type, ".f32"}, "4w|pm2w", &gather<2>);
    table.add({"tld4.a.2d.v4", type, ".f32"}, "4w|pm2w", &gather<3>);
  }
}

void add_queries(FormTable& table) {
  const auto add = [&]<TextureQuery query>(const char* name) {
    table.add({"txq", name, ".b32"}, "wm", &ask<query, false>);
  };
  const auto add_of_level = [&]<TextureQuery query>(const char* name) {
    table.add({"txq.level", name, ".b32"}, "wmw", &ask<query, true>);
  };
  add.operator()<TextureQuery::width>(".width");
  add.operator()<TextureQuery::height>(".height");
  add.operator()<TextureQuery::depth>(".depth");
  add.operator()<TextureQuery::layers>(".array_size");
  add.operator()<TextureQuery::levels>(".num_mipmap_levels");
  add.operator()<TextureQuery::normalized>(".normalized_coords");
  add_of_level.operator()<TextureQuery::width>(".width");
  add_of_level.operator()<TextureQuery::height>(".height");
  add_of_level.operator()<TextureQuery::depth>(".depth");
}

}  // namespace

void add_textures(FormTable& table) {
  add_geometry<Geometry::d1>(table);
  add_geometry<Geometry::d2>(table);
  add_geometry<Geometry::d3>(table);
  add_geometry<Geometry::a1d>(table);
  add_geometry<Geometry::a2d>(table);
  add_geometry<Geometry::cube>(table);
  add_geometry<Geometry::acube>(table);
  add_gathers(table);
  add_queries(table);
}

}  // namespace cudacore::simulator
