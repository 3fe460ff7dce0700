// SPDX-License-Identifier: Apache-2.0
#include "runtime/array_shape.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "cudacore/error.hpp"
#include "error/describe.hpp"

namespace cudacore {
namespace {

struct FormatFacts {
  const char* name;
  CUarray_format format;
  std::size_t size;
};

/// By ArrayFormat.
constexpr auto format_facts = std::to_array<FormatFacts>({
    {"uint8", CU_AD_FORMAT_UNSIGNED_INT8, 1},
    {"uint16", CU_AD_FORMAT_UNSIGNED_INT16, 2},
    {"uint32", CU_AD_FORMAT_UNSIGNED_INT32, 4},
    {"int8", CU_AD_FORMAT_SIGNED_INT8, 1},
    {"int16", CU_AD_FORMAT_SIGNED_INT16, 2},
    {"int32", CU_AD_FORMAT_SIGNED_INT32, 4},
    {"float16", CU_AD_FORMAT_HALF, 2},
    {"float32", CU_AD_FORMAT_FLOAT, 4},
});

const FormatFacts& facts_of(ArrayFormat format) noexcept {
  return format_facts[static_cast<std::size_t>(format)];
}

struct Limit {
  CUdevice_attribute attribute;
  const char* name;
};

#define CUDACORE_LIMIT(upper, lower) \
  Limit { CU_DEVICE_ATTRIBUTE_MAXIMUM_##upper, "maximum_" #lower }

constexpr std::array limits_1d{CUDACORE_LIMIT(TEXTURE1D_WIDTH, texture1d_width)};
constexpr std::array limits_2d{CUDACORE_LIMIT(TEXTURE2D_WIDTH, texture2d_width),
                               CUDACORE_LIMIT(TEXTURE2D_HEIGHT, texture2d_height)};
constexpr std::array limits_3d{CUDACORE_LIMIT(TEXTURE3D_WIDTH, texture3d_width),
                               CUDACORE_LIMIT(TEXTURE3D_HEIGHT, texture3d_height),
                               CUDACORE_LIMIT(TEXTURE3D_DEPTH, texture3d_depth)};
constexpr std::array other_limits_3d{
    CUDACORE_LIMIT(TEXTURE3D_WIDTH_ALTERNATE, texture3d_width_alternate),
    CUDACORE_LIMIT(TEXTURE3D_HEIGHT_ALTERNATE, texture3d_height_alternate),
    CUDACORE_LIMIT(TEXTURE3D_DEPTH_ALTERNATE, texture3d_depth_alternate)};
constexpr std::array mipmap_limits_1d{
    CUDACORE_LIMIT(TEXTURE1D_MIPMAPPED_WIDTH, texture1d_mipmapped_width)};
constexpr std::array mipmap_limits_2d{
    CUDACORE_LIMIT(TEXTURE2D_MIPMAPPED_WIDTH, texture2d_mipmapped_width),
    CUDACORE_LIMIT(TEXTURE2D_MIPMAPPED_HEIGHT, texture2d_mipmapped_height)};
constexpr std::array surface_limits_1d{CUDACORE_LIMIT(SURFACE1D_WIDTH, surface1d_width)};
constexpr std::array surface_limits_2d{CUDACORE_LIMIT(SURFACE2D_WIDTH, surface2d_width),
                                       CUDACORE_LIMIT(SURFACE2D_HEIGHT, surface2d_height)};
constexpr std::array surface_limits_3d{CUDACORE_LIMIT(SURFACE3D_WIDTH, surface3d_width),
                                       CUDACORE_LIMIT(SURFACE3D_HEIGHT, surface3d_height),
                                       CUDACORE_LIMIT(SURFACE3D_DEPTH, surface3d_depth)};
#undef CUDACORE_LIMIT

std::span<const Limit> texture_limits(std::size_t rank, ArrayKind kind) {
  if (rank == 3) return limits_3d;
  if (kind == ArrayKind::mipmapped) {
    return rank == 1 ? std::span<const Limit>(mipmap_limits_1d) : mipmap_limits_2d;
  }
  return rank == 1 ? std::span<const Limit>(limits_1d) : limits_2d;
}

std::span<const Limit> surface_limits(std::size_t rank) {
  return rank == 1   ? std::span<const Limit>(surface_limits_1d)
         : rank == 2 ? std::span<const Limit>(surface_limits_2d)
                     : surface_limits_3d;
}

bool fits(std::span<const std::int64_t> shape, Device device, std::span<const Limit> limits) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const int most = device.attribute(limits[i].attribute);
    if (most != 0 && shape[i] > most) return false;
  }
  return true;
}

void require_limits(std::span<const std::int64_t> shape, Device device,
                    std::span<const Limit> limits) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    require_limit(device, limits[i].attribute, limits[i].name, "shape[" + std::to_string(i) + "]",
                  static_cast<std::size_t>(shape[i]));
  }
}

std::string text_of(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

std::size_t size_of(ArrayFormat format) noexcept { return facts_of(format).size; }
const char* name_of(ArrayFormat format) noexcept { return facts_of(format).name; }
CUarray_format driver_format(ArrayFormat format) noexcept { return facts_of(format).format; }

ArrayFormat format_of(CUarray_format format) noexcept {
  const auto* found =
      std::find_if(format_facts.begin(), format_facts.end(),
                   [format](const FormatFacts& each) { return each.format == format; });
  return static_cast<ArrayFormat>(found - format_facts.begin());
}

bool is_floating(ArrayFormat format) noexcept {
  return format == ArrayFormat::float16 || format == ArrayFormat::float32;
}

std::size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR& description) noexcept {
  return size_of(format_of(description.Format)) * description.NumChannels;
}

void require_channels(int num_channels) {
  if (num_channels == 1 || num_channels == 2 || num_channels == 4) return;
  throw std::invalid_argument("num_channels must be 1, 2, or 4, got " +
                              std::to_string(num_channels));
}

void require_limit(Device device, CUdevice_attribute attribute, const char* attribute_name,
                   const std::string& what, std::size_t value) {
  const int most = device.attribute(attribute);
  if (most == 0 || value <= static_cast<std::size_t>(most)) return;
  throw std::invalid_argument(what + " is " + std::to_string(value) + ", and " +
                              error::describe_device(device.id()) + " takes up to " +
                              std::to_string(most) + " (" + attribute_name + ")");
}

CUDA_ARRAY3D_DESCRIPTOR describe_array(const OpaqueArrayOptions& options, Device device,
                                       ArrayKind kind) {
  require_channels(options.num_channels);
  const std::span<const std::int64_t> shape = options.shape;
  if (shape.empty() || shape.size() > 3) {
    throw std::invalid_argument("shape rank must be 1, 2, or 3, got " +
                                std::to_string(shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] >= 1) continue;
    throw std::invalid_argument("shape[" + std::to_string(i) + "] must be >= 1, got " +
                                std::to_string(shape[i]));
  }
  const bool may_be_other = shape.size() == 3 && fits(shape, device, other_limits_3d) &&
                            device.attribute(other_limits_3d[0].attribute) != 0;
  if (!may_be_other) require_limits(shape, device, texture_limits(shape.size(), kind));
  if (options.is_surface_load_store) require_limits(shape, device, surface_limits(shape.size()));
  CUDA_ARRAY3D_DESCRIPTOR description{};
  description.Width = static_cast<std::size_t>(shape[0]);
  description.Height = shape.size() > 1 ? static_cast<std::size_t>(shape[1]) : 0;
  description.Depth = shape.size() > 2 ? static_cast<std::size_t>(shape[2]) : 0;
  description.Format = driver_format(options.format);
  description.NumChannels = static_cast<unsigned>(options.num_channels);
  description.Flags = options.is_surface_load_store ? unsigned{CUDA_ARRAY3D_SURFACE_LDST} : 0U;
  return description;
}

void require_plain(const CUDA_ARRAY3D_DESCRIPTOR& description, const char* what) {
  constexpr unsigned known_flags =
      CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_COLOR_ATTACHMENT;
  const bool is_known =
      static_cast<std::size_t>(format_of(description.Format)) < format_facts.size();
  if (!is_known) {
    throw NotSupportedError(std::string(what) + ": its elements have CUarray_format " +
                            std::to_string(static_cast<int>(description.Format)) +
                            ", which cudacore doesn't know");
  }
  if ((description.Flags & ~known_flags) != 0) {
    throw NotSupportedError(std::string(what) + ": the array has layers, faces or another form " +
                            "that cudacore doesn't know (its flags are " +
                            std::to_string(description.Flags) + ")");
  }
}

OpaqueArrayOptions options_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
  OpaqueArrayOptions options;
  for (const std::size_t length : {description.Width, description.Height, description.Depth}) {
    if (length != 0) options.shape.push_back(static_cast<std::int64_t>(length));
  }
  options.format = format_of(description.Format);
  options.num_channels = static_cast<int>(description.NumChannels);
  options.is_surface_load_store = (description.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
  return options;
}

std::string array_text(const CUDA_ARRAY3D_DESCRIPTOR& description, int device) {
  const OpaqueArrayOptions options = options_of(description);
  const std::string channels =
      options.num_channels == 1 ? "" : std::to_string(options.num_channels) + " ";
  return "a " + text_of(options.shape) + " array of " + channels + name_of(options.format) +
         " on " + error::describe_device(device);
}

}  // namespace cudacore
