// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of surfaces, and queries, by the handles of surface objects. The first
// coordinate counts bytes, except of formatted stores.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/texture_handles.hpp"
#include "simulator/ops/textures.hpp"

namespace cudacore::simulator {
namespace {

enum class SurfaceShape : std::uint8_t { d1, d2, d3, a1d, a2d };
enum class OutOfRange : std::uint8_t { trap, clamp, zero };

/// Whether an array has the shape that an instruction accesses; the faces of cubes are layers.
bool has_shape(const Array& array, SurfaceShape shape) noexcept {
  const bool has_layers = array.is_layered || array.is_cube;
  switch (shape) {
    case SurfaceShape::d1:
      return array.height == 0 && array.depth == 0;
    case SurfaceShape::d2:
      return array.height != 0 && array.depth == 0;
    case SurfaceShape::d3:
      return array.depth != 0 && !has_layers;
    case SurfaceShape::a1d:
      return has_layers && array.height == 0;
    case SurfaceShape::a2d:
      return has_layers && array.height != 0;
  }
  return false;
}

const Surface* find_surface(Warp& warp, const Instruction& in, HandleLookup<Surface>& lookup,
                            SurfaceShape shape, unsigned lane) {
  const Surface* surface = lookup.find(lane);
  if (surface == nullptr || has_shape(*surface->array, shape)) return surface;
  refuse_object(warp, in, lane, "accesses a surface of another geometry");
  return nullptr;
}

/// x, row and plane, of which the first counts bytes.
using Place = std::array<std::int64_t, 3>;

template <SurfaceShape shape>
Place place_of(const Warp& warp, const Instruction& in, unsigned operand, unsigned lane) {
  const auto at = [&](unsigned index) -> std::int64_t {
    return element_of<std::int32_t>(warp, in, operand, index, lane);
  };
  const auto layer = [&]() -> std::int64_t {
    return element_of<std::uint32_t>(warp, in, operand, 0, lane);
  };
  if constexpr (shape == SurfaceShape::d1) return {at(0), 0, 0};
  if constexpr (shape == SurfaceShape::d2) return {at(0), at(1), 0};
  if constexpr (shape == SurfaceShape::d3) return {at(0), at(1), at(2)};
  if constexpr (shape == SurfaceShape::a1d) return {at(1), 0, layer()};
  return {at(1), at(2), layer()};
}

/// What an access finds.
struct FoundBytes {
  std::byte* bytes = nullptr;  ///< null if it is out of range, or faulted
  bool is_faulted = false;
};

FoundBytes find_bytes(Warp& warp, const Instruction& in, const Array& array, Place place,
                      std::size_t size, OutOfRange out, unsigned lane) {
  const auto wide = static_cast<std::int64_t>(size);
  const Place limits{static_cast<std::int64_t>(array.row_size()) - wide, array.rows() - 1,
                     array.planes() - 1};
  bool is_inside = true;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place.at(i) >= 0 && place.at(i) <= limits.at(i)) continue;
    is_inside = false;
    place.at(i) = std::clamp<std::int64_t>(place.at(i), 0, std::max<std::int64_t>(limits.at(i), 0));
  }
  if (limits[0] < 0 || (!is_inside && out == OutOfRange::trap)) {
    refuse_object(warp, in, lane, "accesses a surface out of its bounds");
    return {nullptr, true};
  }
  if (!is_inside && out == OutOfRange::zero) return {};
  if (place[0] % wide != 0) {
    warp.fault(in, FaultKind::misaligned_address, lane,
               "accesses a surface at an x that is not a multiple of the access's bytes");
    return {nullptr, true};
  }
  return {array.bytes + static_cast<std::size_t>(place[2]) * array.plane_size() +
          static_cast<std::size_t>(place[1]) * array.row_size() +
          static_cast<std::size_t>(place[0])};
}

/// d, [surface, {coordinates}]
template <SurfaceShape shape, class T, unsigned count, OutOfRange out>
void load(Warp& warp, const Instruction& in) {
  HandleLookup<Surface> lookup(warp, in, 1);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Surface* surface = find_surface(warp, in, lookup, shape, lane);
    if (surface == nullptr) return false;
    const FoundBytes found =
        find_bytes(warp, in, *surface->array, place_of<shape>(warp, in, 2, lane), sizeof(T) * count,
                   out, lane);
    if (found.is_faulted) return false;
    std::array<T, count> values{};
    if (found.bytes != nullptr) std::memcpy(values.data(), found.bytes, sizeof(values));
    for (unsigned i = 0; i < count; ++i) {
      warp.row<T>(in.list[in.op[0] + i])[lane] = values.at(i);
    }
    return true;
  });
}

/// [surface, {coordinates}], values
template <SurfaceShape shape, class T, unsigned count, OutOfRange out>
void store(Warp& warp, const Instruction& in) {
  HandleLookup<Surface> lookup(warp, in, 0);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Surface* surface = find_surface(warp, in, lookup, shape, lane);
    if (surface == nullptr) return false;
    const FoundBytes found =
        find_bytes(warp, in, *surface->array, place_of<shape>(warp, in, 1, lane), sizeof(T) * count,
                   out, lane);
    if (found.bytes == nullptr) return !found.is_faulted;
    std::array<T, count> values{};
    for (unsigned i = 0; i < count; ++i) values.at(i) = element_of<T>(warp, in, 2, i, lane);
    std::memcpy(found.bytes, values.data(), sizeof(values));
    return true;
  });
}

/// The type of what a formatted store converts.
enum class StoreType : std::uint8_t { bits, u32, s32, f32 };

template <class T>
std::uint32_t clamped(std::int64_t value) noexcept {
  const std::int64_t in_range =
      std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  return static_cast<std::uint32_t>(in_range);
}

std::uint32_t integer_as(ChannelFormat format, std::int64_t value) noexcept {
  switch (format) {
    case ChannelFormat::u8:
      return clamped<std::uint8_t>(value);
    case ChannelFormat::u16:
      return clamped<std::uint16_t>(value);
    case ChannelFormat::u32:
      return clamped<std::uint32_t>(value);
    case ChannelFormat::s8:
      return clamped<std::int8_t>(value);
    case ChannelFormat::s16:
      return clamped<std::int16_t>(value);
    default:
      return clamped<std::int32_t>(value);
  }
}

/// The bits of a channel for a value whose type is that of the surface: a float, or an integer of
/// the same sign.
std::uint32_t formatted(ChannelFormat format, std::uint32_t bits) noexcept {
  switch (format) {
    case ChannelFormat::f32:
      return bits;
    case ChannelFormat::f16:
      return F16::narrow(std::bit_cast<float>(bits));
    case ChannelFormat::u8:
    case ChannelFormat::u16:
    case ChannelFormat::u32:
      return integer_as(format, bits);
    default:
      return integer_as(format, static_cast<std::int32_t>(bits));
  }
}

/// [surface, {coordinates}], values; x counts elements.
template <SurfaceShape shape, unsigned count, OutOfRange out>
void store_formatted(Warp& warp, const Instruction& in) {
  HandleLookup<Surface> lookup(warp, in, 0);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Surface* surface = find_surface(warp, in, lookup, shape, lane);
    if (surface == nullptr) return false;
    const Array& array = *surface->array;
    const std::size_t element = array.element_size();
    Place place = place_of<shape>(warp, in, 1, lane);
    place[0] *= static_cast<std::int64_t>(element);
    const FoundBytes found = find_bytes(warp, in, array, place, element, out, lane);
    if (found.bytes == nullptr) return !found.is_faulted;
    const unsigned size = size_of(array.format);
    for (unsigned i = 0; i < std::min<unsigned>(count, array.channels); ++i) {
      const std::uint32_t bits =
          formatted(array.format, element_of<std::uint32_t>(warp, in, 2, i, lane));
      std::memcpy(found.bytes + std::size_t{i} * size, &bits, size);
    }
    return true;
  });
}

enum class SurfaceQuery : std::uint8_t { width, height, depth, layers };

std::uint32_t answer(const Array& array, SurfaceQuery query) {
  switch (query) {
    case SurfaceQuery::width:
      return array.width;
    case SurfaceQuery::height:
      return array.height;
    case SurfaceQuery::depth:
      return array.is_layered || array.is_cube ? 0 : array.depth;
    case SurfaceQuery::layers:
      if (!array.is_layered) return 0;
      return array.is_cube ? array.depth / 6 : array.depth;
  }
  return 0;
}

/// d, [surface]
template <SurfaceQuery query>
void ask(Warp& warp, const Instruction& in) {
  HandleLookup<Surface> lookup(warp, in, 1);
  for_each_enabled(warp, in, [&](unsigned lane) {
    const Surface* surface = lookup.find(lane);
    if (surface == nullptr) return false;
    warp.row<std::uint32_t>(in.op[0])[lane] = answer(*surface->array, query);
    return true;
  });
}

constexpr Traits loads{.converts = true};
constexpr Traits stores{.effect = Effect::acts, .only_reads = true, .converts = true};

/// What the forms of a shape have in common.
struct ShapeNames {
  const char* name;
  const char* coordinates;
};

template <SurfaceShape shape, class T, unsigned count, OutOfRange out>
void add_access(FormTable& table, const ShapeNames& names, const char* type, char width,
                const char* clamp) {
  const char* vector = count == 1 ? "" : count == 2 ? ".v2" : ".v4";
  const std::string values = std::to_string(count) + width;
  const std::string address = std::string("m") + names.coordinates;
  table.add({"suld.b", names.name, vector, type, clamp}, (values + address).c_str(),
            &load<shape, T, count, out>, loads);
  table.add({"sust.b", names.name, vector, type, clamp}, (address + values).c_str(),
            &store<shape, T, count, out>, stores);
}

template <SurfaceShape shape, OutOfRange out>
void add_mode(FormTable& table, const ShapeNames& names, const char* clamp) {
  const auto add = [&]<class T>(T, const char* type, char width) {
    add_access<shape, T, 1, out>(table, names, type, width, clamp);
    add_access<shape, T, 2, out>(table, names, type, width, clamp);
    if constexpr (sizeof(T) < 8) add_access<shape, T, 4, out>(table, names, type, width, clamp);
  };
  add(std::uint8_t{}, ".b8", 'b');
  add(std::uint16_t{}, ".b16", 'h');
  add(std::uint32_t{}, ".b32", 'w');
  add(std::uint64_t{}, ".b64", 'x');
  const auto add_formatted = [&](const char* vector, const char* values, Handler run) {
    for (const char* type : {".b32", ".u32", ".s32", ".f32"}) {
      table.add({"sust.p", names.name, vector, type, clamp},
                (std::string("m") + names.coordinates + values).c_str(), run, stores);
    }
  };
  add_formatted("", "1w", &store_formatted<shape, 1, out>);
  add_formatted(".v2", "2w", &store_formatted<shape, 2, out>);
  add_formatted(".v4", "4w", &store_formatted<shape, 4, out>);
}

template <SurfaceShape shape>
void add_shape(FormTable& table, const ShapeNames& names) {
  add_mode<shape, OutOfRange::trap>(table, names, ".trap");
  add_mode<shape, OutOfRange::clamp>(table, names, ".clamp");
  add_mode<shape, OutOfRange::zero>(table, names, ".zero");
}

}  // namespace

void add_surfaces(FormTable& table) {
  add_shape<SurfaceShape::d1>(table, {".1d", "1w"});
  add_shape<SurfaceShape::d2>(table, {".2d", "2w"});
  add_shape<SurfaceShape::d3>(table, {".3d", "4w"});
  add_shape<SurfaceShape::a1d>(table, {".a1d", "2w"});
  add_shape<SurfaceShape::a2d>(table, {".a2d", "4w"});
  table.add({"suq.width.b32"}, "wm", &ask<SurfaceQuery::width>);
  table.add({"suq.height.b32"}, "wm", &ask<SurfaceQuery::height>);
  table.add({"suq.depth.b32"}, "wm", &ask<SurfaceQuery::depth>);
  table.add({"suq.array_size.b32"}, "wm", &ask<SurfaceQuery::layers>);
}

}  // namespace cudacore::simulator
