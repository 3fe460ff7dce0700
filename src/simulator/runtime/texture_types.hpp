// SPDX-License-Identifier: Apache-2.0
//
// The runtime's structs for arrays and textures, in CUDA's layout, and conversions between them and
// the driver's.
#pragma once

#include <array>
#include <cstddef>

#include "simulator/runtime/types.hpp"

namespace cudacore::runtime {

enum class ChannelKind : int { is_signed, is_unsigned, floating };

struct LinearDescription {
  void* pointer;
  ChannelFormat format;
  std::size_t size;
};

struct PitchedDescription {
  void* pointer;
  ChannelFormat format;
  std::size_t width;
  std::size_t height;
  std::size_t pitch;
};

struct ResourceDescription {  // cudaResourceDesc
  CUresourcetype type;
  union {
    CUarray array;
    CUmipmappedArray mipmapped;
    LinearDescription linear;
    PitchedDescription pitched;
    int reserved[32];
  };
  unsigned flags;
};

struct TextureDescription {  // cudaTextureDesc
  CUaddress_mode address_modes[3];
  CUfilter_mode filter_mode;
  int reads_normalized;  ///< cudaReadModeNormalizedFloat
  int is_srgb;
  float border_color[4];
  int is_normalized;
  unsigned max_anisotropy;
  CUfilter_mode mipmap_filter_mode;
  float level_bias;
  float least_level;
  float most_level;
  int disable_trilinear_optimization;
  int is_seamless;
};

/// The driver's format for a channel of the runtime.
struct DriverFormat {
  CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned channels = 0;  ///< 0: the driver has no such format
};
[[nodiscard]] DriverFormat driver_format(const ChannelFormat& format) noexcept;
[[nodiscard]] ChannelFormat runtime_format(CUarray_format format, unsigned channels) noexcept;

}  // namespace cudacore::runtime
