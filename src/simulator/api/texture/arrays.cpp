// SPDX-License-Identifier: Apache-2.0
//
// Arrays: creating, describing and destroying them.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/stream.hpp"
#include "simulator/api/texture/array.hpp"
#include "simulator/engine/texture.hpp"

namespace cudacore::simulator {

namespace {

constexpr unsigned simulated_flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                                     CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
constexpr unsigned known_flags = simulated_flags | CUDA_ARRAY3D_DEPTH_TEXTURE |
                                 CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE |
                                 CUDA_ARRAY3D_DEFERRED_MAPPING;

constexpr std::array<std::pair<CUarray_format, ChannelFormat>, 8> formats{{
    {CU_AD_FORMAT_UNSIGNED_INT8, ChannelFormat::u8},
    {CU_AD_FORMAT_UNSIGNED_INT16, ChannelFormat::u16},
    {CU_AD_FORMAT_UNSIGNED_INT32, ChannelFormat::u32},
    {CU_AD_FORMAT_SIGNED_INT8, ChannelFormat::s8},
    {CU_AD_FORMAT_SIGNED_INT16, ChannelFormat::s16},
    {CU_AD_FORMAT_SIGNED_INT32, ChannelFormat::s32},
    {CU_AD_FORMAT_HALF, ChannelFormat::f16},
    {CU_AD_FORMAT_FLOAT, ChannelFormat::f32},
}};

CUresult refuse_array(const char* why) { return refuse(CUDA_ERROR_INVALID_VALUE, why); }

CUresult check_flags(unsigned flags) {
  if ((flags & ~known_flags) != 0) return refuse_array("array: unknown flags");
  if ((flags & ~simulated_flags) == 0) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_NOT_SUPPORTED,
                "array: sparse arrays, deferred mapping and flags for graphics are not simulated");
}

CUresult check_shape(const CUDA_ARRAY3D_DESCRIPTOR& it) {
  if (it.Width == 0) return refuse_array("array: the width is 0");
  const bool is_layered = (it.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const bool is_cube = (it.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  if (is_cube) {
    if (it.Width != it.Height) return refuse_array("array: a cube's faces are not square");
    if (is_layered ? it.Depth == 0 || it.Depth % 6 != 0 : it.Depth != 6) {
      return refuse_array("array: the depth is not the six faces of each cube");
    }
  } else if (is_layered) {
    if (it.Depth == 0) return refuse_array("array: there are no layers");
  } else if (it.Height == 0 && it.Depth != 0) {
    return refuse_array("array: a depth without a height, and without CUDA_ARRAY3D_LAYERED");
  }
  const bool is_2d = it.Height != 0 && it.Depth == 0;
  if ((it.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0 && !is_2d) {
    return refuse_array("array: CUDA_ARRAY3D_TEXTURE_GATHER is for two dimensions");
  }
  return CUDA_SUCCESS;
}

/// The largest arrays, as attributes of a device: of width, height and depth; 0 is no limit.
using Limits = std::array<int, 3>;

Limits texture_limits(const CUDA_ARRAY3D_DESCRIPTOR& it, bool is_mipmapped) {
  const bool is_layered = (it.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if ((it.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    constexpr int width = CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH;
    constexpr int layered_width = CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH;
    if (!is_layered) return {width, width, 0};
    return {layered_width, layered_width,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS};
  }
  if (is_layered && it.Height == 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 0,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS};
  }
  if (is_layered) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS};
  }
  if (it.Depth != 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH};
  }
  if (it.Height == 0) {
    return {is_mipmapped ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
                         : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH,
            0, 0};
  }
  if ((it.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 0};
  }
  if (is_mipmapped) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 0};
  }
  return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT,
          0};
}

/// Only those of one dimension are narrower than textures.
Limits surface_limits(const CUDA_ARRAY3D_DESCRIPTOR& it) {
  const bool is_narrow = (it.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0 && it.Height == 0 &&
                         (it.Flags & CUDA_ARRAY3D_LAYERED) == 0;
  return {is_narrow ? CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH : 0, 0, 0};
}

bool fits(const CUDA_ARRAY3D_DESCRIPTOR& it, const Limits& limits, const Device& device) {
  const std::array<std::size_t, 3> lengths{it.Width, it.Height, it.Depth};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (limits.at(i) == 0) continue;
    int most = 0;
    const CUresult result =
        cuDeviceGetAttribute(&most, static_cast<CUdevice_attribute>(limits.at(i)), device.ordinal);
    if (result != CUDA_SUCCESS || lengths.at(i) > static_cast<std::size_t>(most)) return false;
  }
  return true;
}

/// Three dimensions may also be narrow and deep.
bool is_narrow_and_deep(const CUDA_ARRAY3D_DESCRIPTOR& it, const Device& device) {
  constexpr Limits alternate{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
                             CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                             CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE};
  return it.Depth != 0 && (it.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0 &&
         (it.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0 && fits(it, alternate, device);
}

void release_array(ArrayObject& object) noexcept {
  object.array.destroyed.store(true, std::memory_order_release);
  if (!object.is_level) object.context->device.memory.discharge(object.array.size());
}

CUresult create_array(const CUDA_ARRAY3D_DESCRIPTOR& description, CUarray* handle) {
  return context_call([&](Context& context) {
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    if (const CUresult result = check_array(description, false, context.device);
        result != CUDA_SUCCESS) {
      return result;
    }
    const std::shared_ptr<ArrayObject> object = describe_array(description, context);
    object->pages = allocate_elements(context, object->array.size());
    if (object->pages == nullptr) {
      return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too little memory is free");
    }
    object->array.bytes = object->pages->bytes();
    const CUarray made = registry().arrays.insert(object);
    const std::scoped_lock lock(context.mutex);
    context.arrays.insert(made);
    *handle = made;
    return CUDA_SUCCESS;
  });
}

/// Waits for work that may use the array, and destroys it.
CUresult destroy_array(Context& current, CUarray handle) {
  const std::shared_ptr<ArrayObject> object = registry().arrays.find(handle);
  if (object == nullptr) return refuse(CUDA_ERROR_INVALID_HANDLE, "the array is not live");
  if (object->is_level) {
    return refuse(CUDA_ERROR_INVALID_HANDLE, "a level ends with its mipmapped array");
  }
  if (registry().arrays.erase(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Context& owner = *object->context;
  {
    const std::scoped_lock lock(owner.mutex);
    owner.arrays.erase(handle);
  }
  CUresult result = synchronize_context(owner);
  if (&owner != &current) result = synchronize_context(current);
  release_array(*object);
  return result;
}

}  // namespace

std::optional<ChannelFormat> channel_format_of(CUarray_format format) noexcept {
  const auto* found = std::ranges::find(formats, format, &decltype(formats)::value_type::first);
  return found != formats.end() ? std::optional(found->second) : std::nullopt;
}

CUarray_format format_of(ChannelFormat format) noexcept {
  return std::ranges::find(formats, format, &decltype(formats)::value_type::second)->first;
}

CUresult check_format(CUarray_format format, unsigned channels) {
  if (!channel_format_of(format)) {
    constexpr int first_packed = 0x50;
    constexpr int last_packed = 0xff;
    const int number = static_cast<int>(format);
    if (number < first_packed || number > last_packed) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "there is no such format of elements");
    }
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "formats of elements other than integers, half and float are not simulated");
  }
  if (channels != 1 && channels != 2 && channels != 4) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the number of channels is not 1, 2 or 4");
  }
  return CUDA_SUCCESS;
}

CUresult check_array(const CUDA_ARRAY3D_DESCRIPTOR& description, bool is_mipmapped,
                     const Device& device) {
  if (const CUresult result = check_format(description.Format, description.NumChannels);
      result != CUDA_SUCCESS) {
    return result;
  }
  if (const CUresult result = check_flags(description.Flags); result != CUDA_SUCCESS) return result;
  if (const CUresult result = check_shape(description); result != CUDA_SUCCESS) return result;
  const bool is_small = fits(description, texture_limits(description, is_mipmapped), device) &&
                        fits(description, surface_limits(description), device);
  if (!is_small && !is_narrow_and_deep(description, device)) {
    return refuse_array("array: it exceeds the device's limits (CU_DEVICE_ATTRIBUTE_MAXIMUM_...)");
  }
  return CUDA_SUCCESS;
}

std::shared_ptr<ArrayObject> describe_array(const CUDA_ARRAY3D_DESCRIPTOR& description,
                                            Context& context) {
  auto object = std::make_shared<ArrayObject>();
  object->context = context.shared_from_this();
  object->flags = description.Flags;
  Array& array = object->array;
  array.format = channel_format_of(description.Format).value();
  array.channels = static_cast<std::uint8_t>(description.NumChannels);
  array.is_layered = (description.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  array.is_cube = (description.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  array.has_surfaces = (description.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
  array.has_gather = (description.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0;
  array.device = context.device.ordinal;
  array.width = static_cast<std::uint32_t>(description.Width);
  array.height = static_cast<std::uint32_t>(description.Height);
  array.depth = static_cast<std::uint32_t>(description.Depth);
  return object;
}

std::shared_ptr<const HostPages> allocate_elements(const Context& context, std::size_t size) {
  DeviceMemory& memory = context.device.memory;
  if (size > free_bytes(context.device) || !memory.charge(size)) return nullptr;
  auto pages = HostPages::allocate(size);
  if (pages == nullptr) memory.discharge(size);
  return pages;
}

void release_context_arrays(Context& context) noexcept {
  textures().erase_all(&context);
  surfaces().erase_all(&context);
  std::unordered_set<CUarray> arrays;
  std::unordered_set<CUmipmappedArray> mipmapped_arrays;
  {
    const std::scoped_lock lock(context.mutex);
    arrays.swap(context.arrays);
    mipmapped_arrays.swap(context.mipmapped_arrays);
  }
  for (CUarray handle : arrays) {
    if (const auto object = registry().arrays.erase(handle)) release_array(*object);
  }
  for (CUmipmappedArray handle : mipmapped_arrays) {
    if (const auto object = registry().mipmapped_arrays.erase(handle)) release_levels(*object);
  }
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuArrayCreate_v2(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (handle == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create_array({description->Width, description->Height, 0, description->Format,
                       description->NumChannels, 0},
                      handle);
}

CUresult cuArray3DCreate_v2(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  if (handle == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create_array(*description, handle);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* description, CUarray handle) {
  return context_call([&](Context&) {
    if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with_object(registry().arrays, handle, [&](const ArrayObject& object) {
      const Array& array = object.array;
      *description = {array.width, array.height, format_of(array.format), array.channels};
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray handle) {
  return context_call([&](Context&) {
    if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with_object(registry().arrays, handle, [&](const ArrayObject& object) {
      const Array& array = object.array;
      *description = {array.width,    array.height, array.depth, format_of(array.format),
                      array.channels, object.flags};
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuArrayDestroy(CUarray handle) {
  Context* context = nullptr;
  if (const CUresult status = current_context_even_broken(context); status != CUDA_SUCCESS) {
    return status;
  }
  return driver_call([&] {
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    return destroy_array(*context, handle);
  });
}

}  // extern "C"
