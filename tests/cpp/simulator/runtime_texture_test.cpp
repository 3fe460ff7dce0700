// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime's arrays, and its descriptions of textures and surfaces.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "simulator/runtime/texture_types.hpp"

namespace cudacore::runtime {

extern "C" {
cudaError_t cudaMalloc(void** pointer, std::size_t size);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemcpy3D(const Copy3D* what);
cudaError_t cudaMallocArray(CUarray* array, const ChannelFormat* format, std::size_t width,
                            std::size_t height, unsigned flags);
cudaError_t cudaMalloc3DArray(CUarray* array, const ChannelFormat* format, Extent extent,
                              unsigned flags);
cudaError_t cudaFreeArray(CUarray array);
cudaError_t cudaMallocMipmappedArray(CUmipmappedArray* array, const ChannelFormat* format,
                                     Extent extent, unsigned levels, unsigned flags);
cudaError_t cudaFreeMipmappedArray(CUmipmappedArray array);
cudaError_t cudaGetMipmappedArrayLevel(CUarray* level, CUmipmappedArray array, unsigned number);
cudaError_t cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, CUarray array);
cudaError_t cudaGetChannelDesc(ChannelFormat* format, CUarray array);
cudaError_t cudaMemcpy2DToArray(CUarray to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                MemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, CUarray from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height,
                                  MemcpyKind kind);
cudaError_t cudaMemcpy2DArrayToArray(CUarray to, std::size_t to_x, std::size_t to_y, CUarray from,
                                     std::size_t from_x, std::size_t from_y, std::size_t width,
                                     std::size_t height, MemcpyKind kind);
cudaError_t cudaMemcpyToArray(CUarray to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, MemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, CUarray from, std::size_t x, std::size_t y,
                                std::size_t count, MemcpyKind kind);
cudaError_t cudaCreateTextureObject(CUtexObject* texture, const ResourceDescription* resource,
                                    const TextureDescription* description,
                                    const CUDA_RESOURCE_VIEW_DESC* view);
cudaError_t cudaDestroyTextureObject(CUtexObject texture);
cudaError_t cudaGetTextureObjectResourceDesc(ResourceDescription* resource, CUtexObject texture);
cudaError_t cudaGetTextureObjectTextureDesc(TextureDescription* description, CUtexObject texture);
cudaError_t cudaCreateSurfaceObject(CUsurfObject* surface, const ResourceDescription* resource);
cudaError_t cudaDestroySurfaceObject(CUsurfObject surface);
cudaError_t cudaGetSurfaceObjectResourceDesc(ResourceDescription* resource, CUsurfObject surface);
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const ChannelFormat* format,
                                                 int device);
}

namespace {

constexpr ChannelFormat float1{32, 0, 0, 0, static_cast<int>(ChannelKind::floating)};
constexpr ChannelFormat uchar4{8, 8, 8, 8, static_cast<int>(ChannelKind::is_unsigned)};
constexpr MemcpyKind any = MemcpyKind::any;

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(RuntimeArray, DescribesItself) {
  CUarray array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &uchar4, 7, 5, CUDA_ARRAY3D_SURFACE_LDST), cudaSuccess);
  ChannelFormat format{};
  Extent extent{};
  unsigned flags = 0;
  ASSERT_EQ(cudaArrayGetInfo(&format, &extent, &flags, array), cudaSuccess);
  EXPECT_EQ(format.x, 8);
  EXPECT_EQ(format.w, 8);
  EXPECT_EQ(format.kind, static_cast<int>(ChannelKind::is_unsigned));
  EXPECT_EQ(extent.width, 7U);
  EXPECT_EQ(extent.height, 5U);
  EXPECT_EQ(extent.depth, 0U);
  EXPECT_EQ(flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
  EXPECT_EQ(cudaGetChannelDesc(&format, array), cudaSuccess);
  EXPECT_EQ(cudaGetChannelDesc(nullptr, array), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_NE(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(nullptr), cudaSuccess);
}

TEST(RuntimeArray, RefusesChannelsThatDontExist) {
  CUarray array = nullptr;
  for (const ChannelFormat& format :
       {ChannelFormat{8, 8, 8, 0, 1}, ChannelFormat{8, 16, 0, 0, 1}, ChannelFormat{8, 0, 0, 0, 2},
        ChannelFormat{0, 0, 0, 0, 1}, ChannelFormat{32, 0, 0, 0, 3}}) {
    EXPECT_EQ(cudaMallocArray(&array, &format, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
  }
  EXPECT_EQ(cudaMallocArray(&array, nullptr, 4, 4, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(nullptr, &float1, 4, 4, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(&array, &float1, 0, 4, 0), cudaErrorInvalidValue);
}

TEST(RuntimeArray, CopiesRectangles) {
  const std::vector<float> values = numbers(32);
  CUarray array = nullptr;
  CUarray other = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &float1, 8, 4, 0), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&other, &float1, 8, 4, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 32, 32, 4, any), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DArrayToArray(other, 4, 1, array, 8, 2, 12, 2, any), cudaSuccess);
  std::array<float, 6> result{};
  ASSERT_EQ(cudaMemcpy2DFromArray(result.data(), 12, other, 4, 1, 12, 2, any), cudaSuccess);
  EXPECT_EQ(result, (std::array<float, 6>{19, 20, 21, 27, 28, 29}));
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 16, 32, 4, any),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 4, 0, values.data(), 32, 32, 4, any), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(other), cudaSuccess);
}

TEST(RuntimeArray, CopiesBytesFromRowToRow) {
  const std::vector<float> values = numbers(32);
  CUarray array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &float1, 8, 4, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyToArray(array, 0, 0, std::vector<float>(32).data(), 128, any), cudaSuccess);
  ASSERT_EQ(cudaMemcpyToArray(array, 12, 0, values.data(), 100, any), cudaSuccess);
  std::vector<float> result(32);
  ASSERT_EQ(cudaMemcpyFromArray(result.data(), array, 0, 0, 128, any), cudaSuccess);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(result[i], i >= 3 && i < 28 ? values[i - 3] : 0) << i;
  }
  EXPECT_EQ(cudaMemcpyToArray(array, 32, 0, values.data(), 4, any), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToArray(array, 4, 0, values.data(), 128, any), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST(RuntimeArray, CountsElementsInBoxes) {
  const std::vector<float> values = numbers(24);
  CUarray array = nullptr;
  ASSERT_EQ(cudaMalloc3DArray(&array, &float1, {4, 3, 2}, 0), cudaSuccess);
  Copy3D copy{};
  copy.source.pointer = const_cast<float*>(values.data());
  copy.source.pitch = 16;
  copy.source.height = 3;
  copy.target_array = array;
  copy.extent = {4, 3, 2};
  copy.kind = any;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  std::array<float, 2> result{};
  Copy3D back{};
  back.source_array = array;
  back.source_position = {1, 2, 1};
  back.target = {result.data(), 8, 8, 1};
  back.extent = {2, 1, 1};
  back.kind = any;
  ASSERT_EQ(cudaMemcpy3D(&back), cudaSuccess);
  EXPECT_EQ(result, (std::array<float, 2>{22, 23}));
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST(RuntimeArray, HasLevels) {
  CUmipmappedArray array = nullptr;
  CUarray level = nullptr;
  ASSERT_EQ(cudaMallocMipmappedArray(&array, &uchar4, {8, 8, 0}, 3, 0), cudaSuccess);
  ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, array, 2), cudaSuccess);
  Extent extent{};
  ASSERT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
  EXPECT_EQ(extent.width, 2U);
  EXPECT_EQ(cudaFreeMipmappedArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeMipmappedArray(nullptr), cudaSuccess);
}

TEST(RuntimeTexture, IsDescribedInTheRuntimesWay) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
  ResourceDescription resource{};
  resource.type = CU_RESOURCE_TYPE_PITCH2D;
  resource.pitched = {memory, uchar4, 16, 8, 64};
  TextureDescription description{};
  description.address_modes[1] = CU_TR_ADDRESS_MODE_BORDER;
  description.reads_normalized = 1;
  description.is_normalized = 1;
  description.border_color[3] = 0.25F;
  CUtexObject texture = 0;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaSuccess);
  ResourceDescription kept_resource{};
  ASSERT_EQ(cudaGetTextureObjectResourceDesc(&kept_resource, texture), cudaSuccess);
  EXPECT_EQ(kept_resource.pitched.pointer, memory);
  EXPECT_EQ(kept_resource.pitched.format.w, 8);
  EXPECT_EQ(kept_resource.pitched.height, 8U);
  TextureDescription kept{};
  ASSERT_EQ(cudaGetTextureObjectTextureDesc(&kept, texture), cudaSuccess);
  EXPECT_EQ(kept.address_modes[1], CU_TR_ADDRESS_MODE_BORDER);
  EXPECT_EQ(kept.reads_normalized, 1);
  EXPECT_EQ(kept.is_normalized, 1);
  EXPECT_EQ(kept.is_srgb, 0);
  EXPECT_EQ(kept.border_color[3], 0.25F);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
  resource.type = CU_RESOURCE_TYPE_LINEAR;
  resource.linear = {memory, float1, 4096};
  description.filter_mode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr), cudaSuccess);
  resource.linear.format.kind = 3;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
            cudaErrorInvalidChannelDescriptor);
  EXPECT_EQ(cudaCreateTextureObject(&texture, nullptr, &description, nullptr),
            cudaErrorInvalidValue);
  std::size_t width = 0;
  EXPECT_EQ(cudaDeviceGetTexture1DLinearMaxWidth(&width, &float1, 0), cudaSuccess);
  EXPECT_EQ(width, std::size_t{1} << 28);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(RuntimeSurface, IsDescribedInTheRuntimesWay) {
  ResourceDescription resource{};
  resource.type = CU_RESOURCE_TYPE_ARRAY;
  ASSERT_EQ(cudaMallocArray(&resource.array, &float1, 8, 4, CUDA_ARRAY3D_SURFACE_LDST),
            cudaSuccess);
  CUsurfObject surface = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  ResourceDescription kept{};
  ASSERT_EQ(cudaGetSurfaceObjectResourceDesc(&kept, surface), cudaSuccess);
  EXPECT_EQ(kept.array, resource.array);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(resource.array), cudaSuccess);
}

}  // namespace
}  // namespace cudacore::runtime
