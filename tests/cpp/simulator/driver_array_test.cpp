// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays and mipmapped arrays: what can be made, and copies to and from them.
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr CUDA_ARRAY3D_DESCRIPTOR plain{8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

class DriverArray : public DriverTest {
 protected:
  static CUarray make(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    CUarray array = nullptr;
    EXPECT_EQ(cuArray3DCreate_v2(&array, &description), CUDA_SUCCESS);
    return array;
  }
  static CUresult result_of(const std::function<void(CUDA_ARRAY3D_DESCRIPTOR&)>& change) {
    CUDA_ARRAY3D_DESCRIPTOR description = plain;
    change(description);
    CUarray array = nullptr;
    const CUresult result = cuArray3DCreate_v2(&array, &description);
    if (result == CUDA_SUCCESS) {
      EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
    }
    return result;
  }
  /// From the host to all of an array.
  static CUDA_MEMCPY3D upload(CUarray array, const std::vector<float>& values,
                              const CUDA_ARRAY3D_DESCRIPTOR& shape) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values.data();
    copy.srcPitch = shape.Width * sizeof(float);
    copy.srcHeight = std::max<std::size_t>(shape.Height, 1);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = shape.Width * sizeof(float);
    copy.Height = std::max<std::size_t>(shape.Height, 1);
    copy.Depth = std::max<std::size_t>(shape.Depth, 1);
    return copy;
  }
  static CUDA_MEMCPY3D download(CUarray array, std::vector<float>& values,
                                const CUDA_ARRAY3D_DESCRIPTOR& shape) {
    CUDA_MEMCPY3D copy = upload(array, values, shape);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = values.data();
    copy.dstPitch = copy.srcPitch;
    copy.dstHeight = copy.srcHeight;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    return copy;
  }
};

TEST_F(DriverArray, DescribesItself) {
  const CUDA_ARRAY_DESCRIPTOR asked{5, 3, CU_AD_FORMAT_HALF, 4};
  CUarray array = nullptr;
  ASSERT_EQ(cuArrayCreate_v2(&array, &asked), CUDA_SUCCESS);
  CUDA_ARRAY_DESCRIPTOR flat{};
  ASSERT_EQ(cuArrayGetDescriptor_v2(&flat, array), CUDA_SUCCESS);
  EXPECT_EQ(flat.Width, 5U);
  EXPECT_EQ(flat.Height, 3U);
  EXPECT_EQ(flat.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(flat.NumChannels, 4U);
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  ASSERT_EQ(cuArray3DGetDescriptor_v2(&whole, array), CUDA_SUCCESS);
  EXPECT_EQ(whole.Width, 5U);
  EXPECT_EQ(whole.Depth, 0U);
  EXPECT_EQ(whole.Flags, 0U);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArray3DGetDescriptor_v2(&whole, array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayGetDescriptor_v2(&flat, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayCreate_v2(nullptr, &asked), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayCreate_v2(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverArray, AcceptsEveryShape) {
  for (const auto format :
       {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
        CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT}) {
    for (const unsigned channels : {1U, 2U, 4U}) {
      EXPECT_EQ(result_of([&](auto& it) { it.Format = format, it.NumChannels = channels; }),
                CUDA_SUCCESS);
    }
  }
  const std::vector<CUDA_ARRAY3D_DESCRIPTOR> shapes{
      {8, 0, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST},
      {131072, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0},
      {8, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER},
      {8, 4, 2, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST},
      {8, 0, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED},
      {8, 4, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED},
      {8, 8, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP},
      {8, 8, 18, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
      {4, 4, 20000, CU_AD_FORMAT_FLOAT, 1, 0},
  };
  for (const auto& shape : shapes) {
    EXPECT_EQ(result_of([&](auto& it) { it = shape; }), CUDA_SUCCESS) << shape.Width;
  }
}

TEST_F(DriverArray, RefusesWhatTheDriverRefuses) {
  const std::function<void(CUDA_ARRAY3D_DESCRIPTOR&)> changes[] = {
      [](auto& it) { it.Width = 0; },
      [](auto& it) { it.Height = 0, it.Depth = 2; },
      [](auto& it) { it.NumChannels = 0; },
      [](auto& it) { it.NumChannels = 3; },
      [](auto& it) { it.NumChannels = 8; },
      [](auto& it) { it.Format = static_cast<CUarray_format>(0x11); },
      [](auto& it) { it.Flags = 0x8000; },
      [](auto& it) { it.Flags = CUDA_ARRAY3D_LAYERED; },
      [](auto& it) { it.Flags = CUDA_ARRAY3D_CUBEMAP; },
      [](auto& it) { it.Flags = CUDA_ARRAY3D_CUBEMAP, it.Height = 8, it.Depth = 12; },
      [](auto& it) {
        it.Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED;
        it.Height = 8;
        it.Depth = 13;
      },
      [](auto& it) { it.Flags = CUDA_ARRAY3D_TEXTURE_GATHER, it.Height = 0; },
      [](auto& it) { it.Flags = CUDA_ARRAY3D_TEXTURE_GATHER, it.Depth = 2; },
      [](auto& it) { it.Width = 131073; },
      [](auto& it) { it.Width = std::size_t{1} << 40; },
      [](auto& it) { it.Height = 65537; },
      [](auto& it) { it.Depth = 40000; },
      [](auto& it) { it.Width = 40000, it.Height = 0, it.Flags = CUDA_ARRAY3D_SURFACE_LDST; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    EXPECT_EQ(result_of(changes[i]), CUDA_ERROR_INVALID_VALUE) << i;
  }
  EXPECT_EQ(result_of([](auto& it) { it.Flags = CUDA_ARRAY3D_SPARSE; }), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(newest_log().find("sparse"), std::string::npos);
  EXPECT_EQ(result_of([](auto& it) { it.Format = CU_AD_FORMAT_NV12; }), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(DriverArray, CountsAsMemoryOfTheDevice) {
  std::size_t before = 0;
  std::size_t during = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&before, &total), CUDA_SUCCESS);
  CUarray array = make({1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0});
  ASSERT_EQ(cuMemGetInfo_v2(&during, &total), CUDA_SUCCESS);
  EXPECT_EQ(before - during, std::size_t{16} << 20);
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo_v2(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(before, after);
  EXPECT_EQ(result_of([](auto& it) { it.Width = 131072, it.Height = 65536, it.NumChannels = 4; }),
            CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(DriverArray, EndsWithItsContext) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  CUarray array = make(plain);
  CUmipmappedArray mipmapped = nullptr;
  CUarray level = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &plain, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMipmappedArrayGetLevel(&level, mipmapped, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR description{};
  EXPECT_EQ(cuArray3DGetDescriptor_v2(&description, array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArray3DGetDescriptor_v2(&description, level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMipmappedArrayDestroy(mipmapped), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverArray, CopiesBoxesInBothDirections) {
  constexpr CUDA_ARRAY3D_DESCRIPTOR shapes[] = {
      {7, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0},
      {7, 5, 0, CU_AD_FORMAT_FLOAT, 1, 0},
      {7, 5, 3, CU_AD_FORMAT_FLOAT, 1, 0},
      {7, 0, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED},
      {5, 5, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP},
  };
  for (const auto& shape : shapes) {
    const auto values = numbers(7 * 5 * 6);
    std::vector<float> result(values.size());
    CUarray array = make(shape);
    const CUDA_MEMCPY3D up = upload(array, values, shape);
    ASSERT_EQ(cuMemcpy3D_v2(&up), CUDA_SUCCESS);
    const CUDA_MEMCPY3D down = download(array, result, shape);
    ASSERT_EQ(cuMemcpy3D_v2(&down), CUDA_SUCCESS);
    const std::size_t count = shape.Width * std::max<std::size_t>(shape.Height, 1) *
                              std::max<std::size_t>(shape.Depth, 1);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(result[i], values[i]);
    EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  }
}

TEST_F(DriverArray, CopiesPartsByOffsets) {
  constexpr CUDA_ARRAY3D_DESCRIPTOR shape{6, 4, 3, CU_AD_FORMAT_FLOAT, 1, 0};
  const auto values = numbers(6 * 4 * 3);
  CUarray array = make(shape);
  CUarray other = make(shape);
  const CUDA_MEMCPY3D up = upload(array, values, shape);
  ASSERT_EQ(cuMemcpy3D_v2(&up), CUDA_SUCCESS);
  CUDA_MEMCPY3D across{};
  across.srcMemoryType = across.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  across.srcArray = array;
  across.dstArray = other;
  across.srcXInBytes = 2 * sizeof(float);
  across.srcY = 1;
  across.srcZ = 1;
  across.dstXInBytes = 3 * sizeof(float);
  across.dstZ = 1;
  across.WidthInBytes = 3 * sizeof(float);
  across.Height = 2;
  across.Depth = 2;
  ASSERT_EQ(cuMemcpy3D_v2(&across), CUDA_SUCCESS);
  std::vector<float> result(values.size());
  const CUDA_MEMCPY3D down = download(other, result, shape);
  ASSERT_EQ(cuMemcpy3D_v2(&down), CUDA_SUCCESS);
  for (std::size_t z = 0; z < 3; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 6; ++x) {
        const bool is_inside = z >= 1 && y < 2 && x >= 3;
        const float expected = is_inside ? values[(z * 4 + y + 1) * 6 + x - 1] : 0.0F;
        EXPECT_EQ(result[(z * 4 + y) * 6 + x], expected) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(DriverArray, CopiesRectanglesOfDeviceMemory) {
  const auto values = numbers(8 * 4);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc_v2(&memory, 8 * 4 * sizeof(float)), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD_v2(memory, values.data(), 8 * 4 * sizeof(float)), CUDA_SUCCESS);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.srcPitch = 8 * sizeof(float);
  copy.srcXInBytes = sizeof(float);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = make(plain);
  copy.dstY = 2;
  copy.WidthInBytes = 7 * sizeof(float);
  copy.Height = 2;
  CUstream stream = make_stream();
  ASSERT_EQ(cuMemcpy2DAsync_v2(&copy, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  std::vector<float> result(8 * 4);
  const CUDA_MEMCPY3D down = download(copy.dstArray, result, plain);
  ASSERT_EQ(cuMemcpy3D_v2(&down), CUDA_SUCCESS);
  EXPECT_EQ(result[2 * 8], 2.0F);
  EXPECT_EQ(result[3 * 8 + 6], 16.0F);
  EXPECT_EQ(result[3 * 8 + 7], 0.0F);
}

TEST_F(DriverArray, RefusesCopiesThatExceedIt) {
  const auto values = numbers(64);
  CUarray array = make(plain);
  const auto refused = [&](const std::function<void(CUDA_MEMCPY3D&)>& change) {
    CUDA_MEMCPY3D copy = upload(array, values, plain);
    change(copy);
    return cuMemcpy3D_v2(&copy);
  };
  EXPECT_EQ(refused([](auto&) {}), CUDA_SUCCESS);
  const std::function<void(CUDA_MEMCPY3D&)> changes[] = {
      [](auto& copy) { copy.dstXInBytes = 4; },
      [](auto& copy) { copy.dstY = 1; },
      [](auto& copy) { copy.dstZ = 1; },
      [](auto& copy) { copy.dstXInBytes = ~std::size_t{3}; },
      [](auto& copy) { copy.Depth = 2; },
      [](auto& copy) { copy.WidthInBytes = 6; },
      [](auto& copy) { copy.dstXInBytes = 2, copy.WidthInBytes = 8; },
      [](auto& copy) { copy.dstArray = nullptr; },
      [](auto& copy) { copy.dstLOD = 1; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    EXPECT_EQ(refused(changes[i]), CUDA_ERROR_INVALID_VALUE) << i;
  }
  CUarray wide = make({8, 4, 0, CU_AD_FORMAT_FLOAT, 2, 0});
  EXPECT_EQ(refused([&](auto& copy) {
              copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
              copy.srcArray = wide;
            }),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(refused([](auto&) {}), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverArray, CopiesRowsOfOneDimension) {
  constexpr CUDA_ARRAY3D_DESCRIPTOR row{16, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  const auto values = numbers(16);
  CUarray array = make(row);
  CUarray other = make(row);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc_v2(&memory, 64), CUDA_SUCCESS);
  std::vector<float> result(16);
  ASSERT_EQ(cuMemcpyHtoA_v2(array, 16, values.data(), 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyAtoA_v2(other, 0, array, 16, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyAtoD_v2(memory, other, 0, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoA_v2(array, 48, memory, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyAtoH_v2(result.data(), array, 0, 64), CUDA_SUCCESS);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(result[i], i / 4 % 2 == 1 ? values[i % 4] : 0.0F) << i;
  }
  CUstream stream = make_stream();
  ASSERT_EQ(cuMemcpyHtoAAsync_v2(array, 0, values.data(), 64, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyAtoHAsync_v2(result.data(), array, 0, 64, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(result, values);
  EXPECT_EQ(cuMemcpyHtoA_v2(array, 4, values.data(), 64), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverArray, IsCopiedByGraphs) {
  const auto values = numbers(32);
  std::vector<float> result(32);
  CUarray array = make(plain);
  CUstream stream = make_stream();
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  const CUDA_MEMCPY3D up = upload(array, values, plain);
  const CUDA_MEMCPY3D down = download(array, result, plain);
  ASSERT_EQ(cuMemcpy3DAsync_v2(&up, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpy3DAsync_v2(&down, stream), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(result, values);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverArray, DestroyingWaitsForCopies) {
  CUarray array = make(plain);
  CUstream stream = make_stream();
  void* values = nullptr;
  ASSERT_EQ(cuMemAllocHost_v2(&values, 128), CUDA_SUCCESS);
  CUDA_MEMCPY3D up = upload(array, numbers(32), plain);
  up.srcHost = values;
  for (int i = 0; i < 8; ++i) ASSERT_EQ(cuMemcpy3DAsync_v2(&up, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

TEST_F(DriverArray, MipmapsHalve) {
  constexpr CUDA_ARRAY3D_DESCRIPTOR base{16, 5, 3, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray mipmapped = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &base, 100), CUDA_SUCCESS);
  constexpr std::array<std::array<std::size_t, 3>, 5> lengths{
      {{16, 5, 3}, {8, 2, 1}, {4, 1, 1}, {2, 1, 1}, {1, 1, 1}}};
  CUarray level = nullptr;
  for (unsigned i = 0; i < lengths.size(); ++i) {
    ASSERT_EQ(cuMipmappedArrayGetLevel(&level, mipmapped, i), CUDA_SUCCESS);
    CUDA_ARRAY3D_DESCRIPTOR description{};
    ASSERT_EQ(cuArray3DGetDescriptor_v2(&description, level), CUDA_SUCCESS);
    EXPECT_EQ(description.Width, lengths[i][0]);
    EXPECT_EQ(description.Height, lengths[i][1]);
    EXPECT_EQ(description.Depth, lengths[i][2]);
  }
  EXPECT_EQ(cuMipmappedArrayGetLevel(&level, mipmapped, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMipmappedArrayDestroy(mipmapped), CUDA_SUCCESS);
  EXPECT_EQ(cuMipmappedArrayDestroy(mipmapped), CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY3D_DESCRIPTOR description{};
  EXPECT_EQ(cuArray3DGetDescriptor_v2(&description, level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMipmappedArrayGetLevel(&level, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverArray, LevelsOfLayersKeepTheirLayers) {
  constexpr CUDA_ARRAY3D_DESCRIPTOR base{8, 4, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED};
  CUmipmappedArray mipmapped = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &base, 2), CUDA_SUCCESS);
  CUarray fine = nullptr;
  CUarray coarse = nullptr;
  ASSERT_EQ(cuMipmappedArrayGetLevel(&fine, mipmapped, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMipmappedArrayGetLevel(&coarse, mipmapped, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMipmappedArrayGetLevel(&coarse, mipmapped, 2), CUDA_ERROR_INVALID_VALUE);
  constexpr CUDA_ARRAY3D_DESCRIPTOR half{4, 2, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED};
  const auto values = numbers(96);
  const std::vector<float> others(24, -1.0F);
  const CUDA_MEMCPY3D up = upload(fine, values, base);
  const CUDA_MEMCPY3D up_half = upload(coarse, others, half);
  ASSERT_EQ(cuMemcpy3D_v2(&up), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpy3D_v2(&up_half), CUDA_SUCCESS);
  std::vector<float> result(96);
  const CUDA_MEMCPY3D down = download(fine, result, base);
  ASSERT_EQ(cuMemcpy3D_v2(&down), CUDA_SUCCESS);
  EXPECT_EQ(result, values);
}

}  // namespace
}  // namespace cudacore::simulator
