// SPDX-License-Identifier: Apache-2.0
//
// Texture objects: checks what describes them, and makes what kernels read.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "simulator/api/memory/copy.hpp"
#include "simulator/api/texture/array.hpp"
#include "simulator/engine/texture.hpp"

using namespace cudacore::simulator;

namespace {

constexpr std::uint64_t base_alignment = 512;  ///< CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
constexpr std::size_t pitch_alignment = 32;    ///< ..._TEXTURE_PITCH_ALIGNMENT
constexpr std::size_t longest_linear = std::size_t{1} << 28;  ///< ..._TEXTURE1D_LINEAR_WIDTH
constexpr std::size_t widest_pitched = 131072;                ///< ..._TEXTURE2D_LINEAR_WIDTH
constexpr std::size_t highest_pitched = 65000;                ///< ..._TEXTURE2D_LINEAR_HEIGHT
constexpr std::size_t longest_pitch = 2097120;                ///< ..._TEXTURE2D_LINEAR_PITCH
constexpr unsigned known_flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                 CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                 CU_TRSF_SEAMLESS_CUBEMAP;

/// A texture with what it was made of, for queries.
struct TextureObject : Texture {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC description{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

CUresult refuse_texture(const char* why) { return refuse(CUDA_ERROR_INVALID_VALUE, why); }

/// Takes memory's format and address.
CUresult take_memory(CUdeviceptr address, CUarray_format format, unsigned channels,
                     Texture& texture) {
  if (const CUresult result = check_format(format, channels); result != CUDA_SUCCESS) {
    return result;
  }
  if (address % base_alignment != 0) {
    return refuse_texture("texture: the address is not a multiple of 512 bytes");
  }
  texture.format = channel_format_of(format).value();
  texture.channels = static_cast<std::uint8_t>(channels);
  texture.address = address;
  return CUDA_SUCCESS;
}

CUresult take_linear(const CUDA_RESOURCE_DESC& resource, Texture& texture) {
  const auto& from = resource.res.linear;
  if (const CUresult result = take_memory(from.devPtr, from.format, from.numChannels, texture);
      result != CUDA_SUCCESS) {
    return result;
  }
  texture.source = TextureSource::linear;
  const std::size_t count = from.sizeInBytes / texture.element_size();
  if (count == 0 || count > longest_linear) {
    return refuse_texture("texture: linear memory has from 1 to 2^28 elements");
  }
  if (!find_range(from.devPtr, from.sizeInBytes, Side::device)) return CUDA_ERROR_INVALID_VALUE;
  texture.width = static_cast<std::uint32_t>(count);
  return CUDA_SUCCESS;
}

CUresult take_pitched(const CUDA_RESOURCE_DESC& resource, Texture& texture) {
  const auto& from = resource.res.pitch2D;
  if (const CUresult result = take_memory(from.devPtr, from.format, from.numChannels, texture);
      result != CUDA_SUCCESS) {
    return result;
  }
  texture.source = TextureSource::pitched;
  if (from.width == 0 || from.width > widest_pitched || from.height == 0 ||
      from.height > highest_pitched) {
    return refuse_texture("texture: pitched memory has from 1 x 1 to 131072 x 65000 elements");
  }
  const std::size_t row = from.width * texture.element_size();
  if (from.pitchInBytes < row || from.pitchInBytes > longest_pitch ||
      from.pitchInBytes % pitch_alignment != 0) {
    return refuse_texture(
        "texture: the pitch is less than a row, above 2097120, or no multiple of 32 bytes");
  }
  const std::size_t size = (from.height - 1) * from.pitchInBytes + row;
  if (!find_range(from.devPtr, size, Side::device)) return CUDA_ERROR_INVALID_VALUE;
  texture.width = static_cast<std::uint32_t>(from.width);
  texture.height = static_cast<std::uint32_t>(from.height);
  texture.pitch = from.pitchInBytes;
  return CUDA_SUCCESS;
}

void take_level(const std::shared_ptr<ArrayObject>& object, Texture& texture) {
  texture.levels.emplace_back(object, &object->array);
}

CUresult take_resource(const CUDA_RESOURCE_DESC& resource, Texture& texture) {
  if (resource.flags != 0) return refuse_texture("texture: the resource's flags are not 0");
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_LINEAR:
      return take_linear(resource, texture);
    case CU_RESOURCE_TYPE_PITCH2D:
      return take_pitched(resource, texture);
    case CU_RESOURCE_TYPE_ARRAY: {
      const auto object = registry().arrays.find(resource.res.array.hArray);
      if (object == nullptr) return refuse_texture("texture: the array is not live");
      take_level(object, texture);
      break;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const auto object = registry().mipmapped_arrays.find(resource.res.mipmap.hMipmappedArray);
      if (object == nullptr) return refuse_texture("texture: the mipmapped array is not live");
      for (const auto& level : object->levels) take_level(level, texture);
      break;
    }
    default:
      return refuse_texture("texture: there is no such type of resource");
  }
  const Array& array = *texture.levels.front();
  texture.format = array.format;
  texture.channels = array.channels;
  texture.device = array.device;
  texture.layers = array.is_layered || array.is_cube ? array.depth : 1;
  return CUDA_SUCCESS;
}

/// The format of a view that is not compressed; its number of channels is 1, 2 or 4.
struct ViewFormat {
  ChannelFormat format;
  std::uint8_t channels;
};

ViewFormat view_format(CUresourceViewFormat format) {
  constexpr std::array<ChannelFormat, 8> formats{
      ChannelFormat::u8,  ChannelFormat::s8,  ChannelFormat::u16, ChannelFormat::s16,
      ChannelFormat::u32, ChannelFormat::s32, ChannelFormat::f16, ChannelFormat::f32};
  const auto number = static_cast<unsigned>(format) - CU_RES_VIEW_FORMAT_UINT_1X8;
  return {formats.at(number / 3), static_cast<std::uint8_t>(1U << number % 3)};
}

CUresult take_view_format(CUresourceViewFormat format, Texture& texture) {
  if (format == CU_RES_VIEW_FORMAT_NONE) return CUDA_SUCCESS;
  if (format < CU_RES_VIEW_FORMAT_NONE || format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7) {
    return refuse_texture("texture: there is no such format of views");
  }
  if (format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "texture: compressed formats are not simulated");
  }
  const ViewFormat view = view_format(format);
  if (std::size_t{view.channels} * size_of(view.format) != texture.element_size()) {
    return refuse_texture("texture: the view's elements differ in size from the array's");
  }
  texture.format = view.format;
  texture.channels = view.channels;
  return CUDA_SUCCESS;
}

CUresult take_view(const CUDA_RESOURCE_VIEW_DESC& view, Texture& texture) {
  if (texture.source != TextureSource::array) {
    return refuse_texture("texture: views are of arrays");
  }
  const Array& array = *texture.levels.front();
  if (view.width != array.width || view.height != array.height || view.depth != array.depth) {
    return refuse_texture("texture: the view differs in size from the array");
  }
  if (view.firstMipmapLevel > view.lastMipmapLevel ||
      view.lastMipmapLevel >= texture.levels.size()) {
    return refuse_texture("texture: the view's levels are not those of the array");
  }
  if (view.firstLayer > view.lastLayer || view.lastLayer >= texture.layers) {
    return refuse_texture("texture: the view's layers are not those of the array");
  }
  if (array.is_cube) {
    if (view.lastLayer != 0 && view.lastLayer - view.firstLayer + 1 != texture.layers) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "texture: views of a part of the cubes are not simulated");
    }
  } else {
    texture.first_layer = view.firstLayer;
    texture.layers = view.lastLayer - view.firstLayer + 1;
  }
  std::vector<std::shared_ptr<const Array>> levels(
      texture.levels.begin() + view.firstMipmapLevel,
      texture.levels.begin() + view.lastMipmapLevel + 1);
  texture.levels = std::move(levels);
  return take_view_format(view.format, texture);
}

bool is_filter(CUfilter_mode mode) {
  return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
}

/// Whether a read gives integers, which cannot be filtered.
bool reads_integers(const Texture& texture) {
  switch (texture.format) {
    case ChannelFormat::f16:
    case ChannelFormat::f32:
      return false;
    case ChannelFormat::u32:
    case ChannelFormat::s32:
      return true;
    default:
      return texture.sampler.reads_elements;
  }
}

CUresult take_sampler(const CUDA_TEXTURE_DESC& from, bool is_mipmapped, Texture& texture) {
  Sampler& to = texture.sampler;
  for (std::size_t i = 0; i < to.modes.size(); ++i) {
    const CUaddress_mode mode = from.addressMode[i];
    if (mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER) {
      return refuse_texture("texture: there is no such address mode");
    }
    to.modes.at(i) = static_cast<AddressMode>(mode);
  }
  if (!is_filter(from.filterMode) || !is_filter(from.mipmapFilterMode)) {
    return refuse_texture("texture: there is no such filter mode");
  }
  if ((from.flags & ~known_flags) != 0) return refuse_texture("texture: unknown flags");
  to.is_linear = from.filterMode == CU_TR_FILTER_MODE_LINEAR;
  to.is_linear_mipmap = is_mipmapped && from.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  to.is_normalized = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  to.reads_elements = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0;
  to.is_srgb = (from.flags & CU_TRSF_SRGB) != 0;
  to.level_bias = from.mipmapLevelBias;
  to.least_level = from.minMipmapLevelClamp;
  to.most_level = from.maxMipmapLevelClamp;
  std::ranges::copy(from.borderColor, to.border.begin());
  if (is_mipmapped && !to.is_normalized) {
    return refuse_texture("texture: mipmapped arrays need normalized coordinates");
  }
  const bool filters =
      texture.source != TextureSource::linear && (to.is_linear || to.is_linear_mipmap);
  if (filters && reads_integers(texture)) {
    return refuse_texture("texture: integers that are read as such cannot be filtered");
  }
  if ((from.flags & CU_TRSF_SEAMLESS_CUBEMAP) == 0) return CUDA_SUCCESS;
  if (texture.levels.empty() || !texture.levels.front()->is_cube) {
    return refuse_texture("texture: only cubes can be filtered without seams");
  }
  if (filters) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "texture: seamless cubes are not simulated");
  }
  to.modes.fill(AddressMode::clamp);
  return CUDA_SUCCESS;
}

CUresult create(const Context& context, CUtexObject* handle, const CUDA_RESOURCE_DESC& resource,
                const CUDA_TEXTURE_DESC& description, const CUDA_RESOURCE_VIEW_DESC* view) {
  const auto object = std::make_shared<TextureObject>();
  object->context = &context;
  object->device = context.device.ordinal;
  object->resource = resource;
  object->description = description;
  if (const CUresult result = take_resource(resource, *object); result != CUDA_SUCCESS) {
    return result;
  }
  if (view != nullptr) {
    object->view = *view;
    if (const CUresult result = take_view(*view, *object); result != CUDA_SUCCESS) return result;
  }
  const bool is_mipmapped = resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  if (const CUresult result = take_sampler(description, is_mipmapped, *object);
      result != CUDA_SUCCESS) {
    return result;
  }
  *handle = textures().insert(object);
  return CUDA_SUCCESS;
}

/// Calls body(object) with a live texture.
template <class Body>
CUresult with_texture(CUtexObject handle, const Body& body) {
  return context_call([&](Context&) {
    const auto texture = textures().find(handle);
    if (texture == nullptr) return refuse_texture("the texture object is not live");
    return body(static_cast<const TextureObject&>(*texture));
  });
}

}  // namespace

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* description,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return context_call([&](const Context& context) {
    if (handle == nullptr || resource == nullptr || description == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return create(context, handle, *resource, *description, view);
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  Context* context = nullptr;
  if (const CUresult status = current_context_even_broken(context); status != CUDA_SUCCESS) {
    return status;
  }
  return driver_call([&] {
    return textures().erase(handle) ? CUDA_SUCCESS
                                    : refuse_texture("the texture object is not live");
  });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_texture(handle, [&](const TextureObject& texture) {
    *resource = texture.resource;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* description, CUtexObject handle) {
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_texture(handle, [&](const TextureObject& texture) {
    *description = texture.description;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject handle) {
  if (view == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_texture(handle, [&](const TextureObject& texture) {
    if (!texture.view) return refuse_texture("the texture was made without a view");
    *view = *texture.view;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
