// SPDX-License-Identifier: Apache-2.0
//
// Arrays and mipmapped arrays.
#include <utility>

#include "simulator/runtime/texture_types.hpp"

namespace cudacore::runtime {

namespace {

/// A kind and the bits of a channel, for each format of the driver.
struct KnownFormat {
  CUarray_format format;
  ChannelKind kind;
  int bits;
};
constexpr std::array<KnownFormat, 8> known_formats{{
    {CU_AD_FORMAT_UNSIGNED_INT8, ChannelKind::is_unsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, ChannelKind::is_unsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, ChannelKind::is_unsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, ChannelKind::is_signed, 8},
    {CU_AD_FORMAT_SIGNED_INT16, ChannelKind::is_signed, 16},
    {CU_AD_FORMAT_SIGNED_INT32, ChannelKind::is_signed, 32},
    {CU_AD_FORMAT_HALF, ChannelKind::floating, 16},
    {CU_AD_FORMAT_FLOAT, ChannelKind::floating, 32},
}};

/// How many channels of equal size there are; 0 if they don't make an element.
unsigned channels_of(const ChannelFormat& format) noexcept {
  const auto [x, y, z, w, kind] = format;
  if (y == 0) return z == 0 && w == 0 ? 1 : 0;
  if (y != x) return 0;
  if (z == 0) return w == 0 ? 2 : 0;
  return z == x && w == x ? 4 : 0;
}

/// Result make(description), if the format exists.
template <class Make>
Result with_description(const ChannelFormat* format, const Extent& extent, unsigned flags,
                        const Make& make) {
  if (format == nullptr) return cudaErrorInvalidValue;
  const DriverFormat as_driver = driver_format(*format);
  if (as_driver.channels == 0) return cudaErrorInvalidChannelDescriptor;
  return make(CUDA_ARRAY3D_DESCRIPTOR{extent.width, extent.height, extent.depth, as_driver.format,
                                      as_driver.channels, flags});
}

Result make_array(CUarray* array, const ChannelFormat* format, const Extent& extent,
                  unsigned flags) {
  if (array == nullptr) return cudaErrorInvalidValue;
  return with_description(format, extent, flags, [&](const CUDA_ARRAY3D_DESCRIPTOR& description) {
    return cuArray3DCreate(array, &description);
  });
}

}  // namespace

DriverFormat driver_format(const ChannelFormat& format) noexcept {
  for (const KnownFormat& known : known_formats) {
    if (known.bits == format.x && static_cast<int>(known.kind) == format.kind) {
      return {known.format, channels_of(format)};
    }
  }
  return {};
}

ChannelFormat runtime_format(CUarray_format format, unsigned channels) noexcept {
  for (const KnownFormat& known : known_formats) {
    if (known.format != format) continue;
    const int second = channels > 1 ? known.bits : 0;
    const int others = channels > 2 ? known.bits : 0;
    return {known.bits, second, others, others, static_cast<int>(known.kind)};
  }
  return {};
}

extern "C" {

cudaError_t cudaMallocArray(CUarray* array, const ChannelFormat* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return call([&] { return make_array(array, format, {width, height, 0}, flags); });
}

cudaError_t cudaMalloc3DArray(CUarray* array, const ChannelFormat* format, Extent extent,
                              unsigned flags) {
  return call([&] { return make_array(array, format, extent, flags); });
}

cudaError_t cudaFreeArray(CUarray array) {
  return call(
      [&]() -> Result { return array != nullptr ? Result(cuArrayDestroy(array)) : cudaSuccess; });
}

cudaError_t cudaMallocMipmappedArray(CUmipmappedArray* array, const ChannelFormat* format,
                                     Extent extent, unsigned levels, unsigned flags) {
  return call([&]() -> Result {
    if (array == nullptr) return cudaErrorInvalidValue;
    return with_description(format, extent, flags, [&](const auto& description) {
      return cuMipmappedArrayCreate(array, &description, levels);
    });
  });
}

cudaError_t cudaFreeMipmappedArray(CUmipmappedArray array) {
  return call([&]() -> Result {
    return array != nullptr ? Result(cuMipmappedArrayDestroy(array)) : cudaSuccess;
  });
}

cudaError_t cudaGetMipmappedArrayLevel(CUarray* level, CUmipmappedArray array, unsigned number) {
  return call([&] { return cuMipmappedArrayGetLevel(level, array, number); });
}

cudaError_t cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags,
                             CUarray array) {
  return call([&]() -> Result {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    const CUresult result = cuArray3DGetDescriptor(&description, array);
    if (result != CUDA_SUCCESS) return result;
    if (format != nullptr) *format = runtime_format(description.Format, description.NumChannels);
    if (extent != nullptr) *extent = {description.Width, description.Height, description.Depth};
    if (flags != nullptr) *flags = description.Flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(ChannelFormat* format, CUarray array) {
  return format != nullptr ? cudaArrayGetInfo(format, nullptr, nullptr, array)
                           : call([] { return Result(cudaErrorInvalidValue); });
}

}  // extern "C"

}  // namespace cudacore::runtime
