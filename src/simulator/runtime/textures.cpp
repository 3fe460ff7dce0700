// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface objects: the driver's, described in the runtime's way.
#include <algorithm>

#include "simulator/runtime/texture_types.hpp"

namespace cudacore::runtime {

namespace {

/// Calls use(description) with the driver's description of a resource.
template <class Use>
Result with_resource(const ResourceDescription* from, const Use& use) {
  if (from == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC to{};
  to.resType = from->type;
  to.flags = from->flags;
  DriverFormat format{CU_AD_FORMAT_UNSIGNED_INT8, 1};
  switch (from->type) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.res.array.hArray = from->array;
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to.res.mipmap.hMipmappedArray = from->mipmapped;
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      format = driver_format(from->linear.format);
      to.res.linear = {reinterpret_cast<CUdeviceptr>(from->linear.pointer), format.format,
                       format.channels, from->linear.size};
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      format = driver_format(from->pitched.format);
      to.res.pitch2D = {reinterpret_cast<CUdeviceptr>(from->pitched.pointer),
                        format.format,
                        format.channels,
                        from->pitched.width,
                        from->pitched.height,
                        from->pitched.pitch};
      break;
  }
  return format.channels != 0 ? Result(use(to)) : cudaErrorInvalidChannelDescriptor;
}

void describe(const CUDA_RESOURCE_DESC& from, ResourceDescription& to) {
  to = {};
  to.type = from.resType;
  to.flags = from.flags;
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.array = from.res.array.hArray;
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to.mipmapped = from.res.mipmap.hMipmappedArray;
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = from.res.linear;
      to.linear = {reinterpret_cast<void*>(linear.devPtr),
                   runtime_format(linear.format, linear.numChannels), linear.sizeInBytes};
      break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& pitched = from.res.pitch2D;
      to.pitched = {reinterpret_cast<void*>(pitched.devPtr),
                    runtime_format(pitched.format, pitched.numChannels), pitched.width,
                    pitched.height, pitched.pitchInBytes};
      break;
    }
  }
}

unsigned flag_if(bool is_set, unsigned flag) { return is_set ? flag : 0; }

CUDA_TEXTURE_DESC driver_description(const TextureDescription& from) {
  CUDA_TEXTURE_DESC to{};
  std::ranges::copy(from.address_modes, to.addressMode);
  to.filterMode = from.filter_mode;
  to.flags =
      flag_if(from.reads_normalized == 0, CU_TRSF_READ_AS_INTEGER) |
      flag_if(from.is_normalized != 0, CU_TRSF_NORMALIZED_COORDINATES) |
      flag_if(from.is_srgb != 0, CU_TRSF_SRGB) |
      flag_if(from.disable_trilinear_optimization != 0, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) |
      flag_if(from.is_seamless != 0, CU_TRSF_SEAMLESS_CUBEMAP);
  to.maxAnisotropy = from.max_anisotropy;
  to.mipmapFilterMode = from.mipmap_filter_mode;
  to.mipmapLevelBias = from.level_bias;
  to.minMipmapLevelClamp = from.least_level;
  to.maxMipmapLevelClamp = from.most_level;
  std::ranges::copy(from.border_color, to.borderColor);
  return to;
}

void describe(const CUDA_TEXTURE_DESC& from, TextureDescription& to) {
  const auto has = [&](unsigned flag) { return (from.flags & flag) != 0 ? 1 : 0; };
  to = {};
  std::ranges::copy(from.addressMode, to.address_modes);
  to.filter_mode = from.filterMode;
  to.reads_normalized = 1 - has(CU_TRSF_READ_AS_INTEGER);
  to.is_srgb = has(CU_TRSF_SRGB);
  std::ranges::copy(from.borderColor, to.border_color);
  to.is_normalized = has(CU_TRSF_NORMALIZED_COORDINATES);
  to.max_anisotropy = from.maxAnisotropy;
  to.mipmap_filter_mode = from.mipmapFilterMode;
  to.level_bias = from.mipmapLevelBias;
  to.least_level = from.minMipmapLevelClamp;
  to.most_level = from.maxMipmapLevelClamp;
  to.disable_trilinear_optimization = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  to.is_seamless = has(CU_TRSF_SEAMLESS_CUBEMAP);
}

/// The runtime's description of what one of the driver's functions returns.
template <class Description, class Driver>
cudaError_t get(Description* description, unsigned long long object,
                CUresult (*ask)(Driver*, unsigned long long)) {
  return call([&]() -> Result {
    if (description == nullptr) return cudaErrorInvalidValue;
    Driver from{};
    const CUresult result = ask(&from, object);
    if (result == CUDA_SUCCESS) describe(from, *description);
    return result;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(CUtexObject* texture, const ResourceDescription* resource,
                                    const TextureDescription* description,
                                    const CUDA_RESOURCE_VIEW_DESC* view) {
  return call([&]() -> Result {
    if (description == nullptr) return cudaErrorInvalidValue;
    return with_resource(resource, [&](const CUDA_RESOURCE_DESC& as_driver) {
      const CUDA_TEXTURE_DESC sampler = driver_description(*description);
      return cuTexObjectCreate(texture, &as_driver, &sampler, view);
    });
  });
}

cudaError_t cudaDestroyTextureObject(CUtexObject texture) {
  return call([&] { return cuTexObjectDestroy(texture); });
}

cudaError_t cudaGetTextureObjectResourceDesc(ResourceDescription* resource, CUtexObject texture) {
  return get(resource, texture, &cuTexObjectGetResourceDesc);
}

cudaError_t cudaGetTextureObjectTextureDesc(TextureDescription* description, CUtexObject texture) {
  return get(description, texture, &cuTexObjectGetTextureDesc);
}

cudaError_t cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view,
                                                 CUtexObject texture) {
  return call([&] { return cuTexObjectGetResourceViewDesc(view, texture); });
}

cudaError_t cudaCreateSurfaceObject(CUsurfObject* surface, const ResourceDescription* resource) {
  return call([&] {
    return with_resource(resource, [&](const CUDA_RESOURCE_DESC& as_driver) {
      return cuSurfObjectCreate(surface, &as_driver);
    });
  });
}

cudaError_t cudaDestroySurfaceObject(CUsurfObject surface) {
  return call([&] { return cuSurfObjectDestroy(surface); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(ResourceDescription* resource, CUsurfObject surface) {
  return get(resource, surface, &cuSurfObjectGetResourceDesc);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const ChannelFormat* format,
                                                 int device) {
  return call([&]() -> Result {
    if (format == nullptr) return cudaErrorInvalidValue;
    const auto [as_driver, channels] = driver_format(*format);
    if (channels == 0) return cudaErrorInvalidChannelDescriptor;
    return cuDeviceGetTexture1DLinearMaxWidth(width, as_driver, channels, device);
  });
}

}  // extern "C"

}  // namespace cudacore::runtime
