// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface objects: what the driver accepts, says about them, and how kernels fail.
#include <functional>

#include "texture_test_support.hpp"

namespace cudacore::simulator {
namespace {

const std::string d4 = "{%d0, %d1, %d2, %d3}";

class DriverTexture : public TextureTest {
 protected:
  static CUresult create(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& description,
                         const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CUtexObject texture = 0;
    const CUresult result = cuTexObjectCreate(&texture, &resource, &description, view);
    if (result == CUDA_SUCCESS) {
      EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
    }
    return result;
  }
  static CUDA_TEXTURE_DESC plain() {
    return sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  }
  static CUdeviceptr allocate(std::size_t size) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, size), CUDA_SUCCESS);
    return address;
  }
  static CUDA_RESOURCE_DESC linear(CUdeviceptr address, std::size_t size) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {address, CU_AD_FORMAT_FLOAT, 1, size};
    return resource;
  }
  static CUDA_RESOURCE_DESC pitched(CUdeviceptr address) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {address, CU_AD_FORMAT_FLOAT, 1, 16, 4, 64};
    return resource;
  }
  static CUarray small_array(unsigned flags = 0) {
    return make_array({4, 4, 0, CU_AD_FORMAT_FLOAT, 1, flags});
  }
};

TEST_F(DriverTexture, DescribesItself) {
  CUarray array = small_array();
  CUDA_TEXTURE_DESC description =
      sampler(CU_TR_ADDRESS_MODE_MIRROR, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
  description.borderColor[2] = 2.5F;
  const CUtexObject texture = make_texture(resource_of(array), description);
  EXPECT_NE(texture, 0U);
  CUDA_RESOURCE_DESC resource{};
  ASSERT_EQ(cuTexObjectGetResourceDesc(&resource, texture), CUDA_SUCCESS);
  EXPECT_EQ(resource.resType, CU_RESOURCE_TYPE_ARRAY);
  EXPECT_EQ(resource.res.array.hArray, array);
  CUDA_TEXTURE_DESC kept{};
  ASSERT_EQ(cuTexObjectGetTextureDesc(&kept, texture), CUDA_SUCCESS);
  EXPECT_EQ(kept.addressMode[1], CU_TR_ADDRESS_MODE_MIRROR);
  EXPECT_EQ(kept.filterMode, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(kept.borderColor[2], 2.5F);
  CUDA_RESOURCE_VIEW_DESC view{};
  EXPECT_EQ(cuTexObjectGetResourceViewDesc(&view, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectGetTextureDesc(nullptr, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectDestroy(0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexObjectGetTextureDesc(&kept, texture), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTexture, RefusesMemoryThatDoesNotFit) {
  const CUdeviceptr memory = allocate(4096);
  EXPECT_EQ(create(linear(memory, 4096), plain()), CUDA_SUCCESS);
  EXPECT_EQ(create(linear(memory + 512, 3584), plain()), CUDA_SUCCESS);
  EXPECT_EQ(create(linear(memory + 256, 256), plain()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(linear(memory, 0), plain()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(linear(memory, 8192), plain()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(linear(0, 4096), plain()), CUDA_ERROR_INVALID_VALUE);
  const std::function<void(CUDA_RESOURCE_DESC&)> changes[] = {
      [](auto& it) { it.res.pitch2D.devPtr += 64; },
      [](auto& it) { it.res.pitch2D.pitchInBytes = 32; },
      [](auto& it) { it.res.pitch2D.pitchInBytes = 80; },
      [](auto& it) { it.res.pitch2D.width = 0; },
      [](auto& it) { it.res.pitch2D.width = 131073; },
      [](auto& it) { it.res.pitch2D.height = 65; },
      [](auto& it) { it.res.pitch2D.height = 65001; },
      [](auto& it) { it.res.pitch2D.numChannels = 3; },
      [](auto& it) { it.res.pitch2D.format = static_cast<CUarray_format>(0); },
      [](auto& it) { it.flags = 1; },
  };
  EXPECT_EQ(create(pitched(memory), plain()), CUDA_SUCCESS);
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    CUDA_RESOURCE_DESC resource = pitched(memory);
    changes[i](resource);
    EXPECT_EQ(create(resource, plain()), CUDA_ERROR_INVALID_VALUE) << i;
  }
}

TEST_F(DriverTexture, RefusesSamplersThatDoNotFit) {
  const CUDA_RESOURCE_DESC floats = resource_of(small_array());
  EXPECT_EQ(create(floats, sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0x8)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(floats, sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
                                   CU_TRSF_SEAMLESS_CUBEMAP)),
            CUDA_ERROR_INVALID_VALUE);
  const auto linear_of = [&](CUarray_format format, unsigned flags) {
    return create(resource_of(make_array({4, 4, 0, format, 1, 0})),
                  sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, flags));
  };
  EXPECT_EQ(linear_of(CU_AD_FORMAT_UNSIGNED_INT8, 0), CUDA_SUCCESS);
  EXPECT_EQ(linear_of(CU_AD_FORMAT_UNSIGNED_INT8, CU_TRSF_READ_AS_INTEGER),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(linear_of(CU_AD_FORMAT_SIGNED_INT32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(linear_of(CU_AD_FORMAT_HALF, CU_TRSF_READ_AS_INTEGER), CUDA_SUCCESS);
  CUmipmappedArray mipmapped = nullptr;
  const Shape shape{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &shape, 2), CUDA_SUCCESS);
  EXPECT_EQ(create(resource_of(mipmapped), plain()), CUDA_ERROR_INVALID_VALUE);
  CUarray cube = make_array({4, 4, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP});
  EXPECT_EQ(create(resource_of(cube), sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT,
                                              CU_TRSF_SEAMLESS_CUBEMAP)),
            CUDA_SUCCESS);
  EXPECT_EQ(create(resource_of(cube), sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR,
                                              CU_TRSF_SEAMLESS_CUBEMAP)),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(DriverTexture, RefusesViewsThatDoNotFit) {
  const CUDA_RESOURCE_DESC resource = resource_of(small_array());
  CUDA_RESOURCE_VIEW_DESC good{};
  good.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  good.width = 4;
  good.height = 4;
  EXPECT_EQ(create(resource, plain(), &good), CUDA_SUCCESS);
  const std::function<void(CUDA_RESOURCE_VIEW_DESC&)> changes[] = {
      [](auto& it) { it.width = 8; },
      [](auto& it) { it.depth = 1; },
      [](auto& it) { it.lastMipmapLevel = 1; },
      [](auto& it) { it.lastLayer = 1; },
      [](auto& it) { it.format = CU_RES_VIEW_FORMAT_FLOAT_2X32; },
      [](auto& it) { it.format = static_cast<CUresourceViewFormat>(0x23); },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    CUDA_RESOURCE_VIEW_DESC view = good;
    changes[i](view);
    EXPECT_EQ(create(resource, plain(), &view), CUDA_ERROR_INVALID_VALUE) << i;
  }
  good.format = CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
  EXPECT_EQ(create(resource, plain(), &good), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(create(linear(allocate(512), 512), plain(), &good), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTexture, RefusesArraysThatAreNotLive) {
  CUarray array = small_array(CUDA_ARRAY3D_SURFACE_LDST);
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(create(resource_of(array), plain()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(create(resource_of(CUmipmappedArray{nullptr}), plain()), CUDA_ERROR_INVALID_VALUE);
  CUsurfObject handle = 0;
  const CUDA_RESOURCE_DESC resource = resource_of(array);
  EXPECT_EQ(cuSurfObjectCreate(&handle, &resource), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTexture, SurfacesNeedTheirFlag) {
  CUsurfObject handle = 0;
  CUDA_RESOURCE_DESC resource = resource_of(small_array());
  EXPECT_EQ(cuSurfObjectCreate(&handle, &resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(newest_log().find("CUDA_ARRAY3D_SURFACE_LDST"), std::string::npos);
  resource = linear(allocate(512), 512);
  EXPECT_EQ(cuSurfObjectCreate(&handle, &resource), CUDA_ERROR_INVALID_VALUE);
  resource = resource_of(small_array(CUDA_ARRAY3D_SURFACE_LDST));
  ASSERT_EQ(cuSurfObjectCreate(&handle, &resource), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC kept{};
  ASSERT_EQ(cuSurfObjectGetResourceDesc(&kept, handle), CUDA_SUCCESS);
  EXPECT_EQ(kept.res.array.hArray, resource.res.array.hArray);
  EXPECT_EQ(cuSurfObjectDestroy(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuSurfObjectDestroy(handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuSurfObjectGetResourceDesc(&kept, handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTexture, HandlesThatAreNotLiveEndTheLaunch) {
  const CUtexObject texture = make_texture(resource_of(small_array()));
  ASSERT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
  run("tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];", texture, {{}}, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("kernel 'k', block (0,0,0), thread (0,0,0): tex.2d.v4.f32.f32"),
            std::string::npos)
      << newest_log();
  EXPECT_NE(newest_log().find("which is not a live texture object"), std::string::npos);
}

TEST_F(DriverTexture, TexturesAreNotSurfaces) {
  const CUtexObject texture = make_texture(resource_of(small_array()));
  run("suld.b.2d.b32.trap {%d0}, [%t, {%c0, %c1}];", texture, {{}}, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("which is not a live surface object"), std::string::npos);
}

TEST_F(DriverTexture, DestroyedArraysEndTheLaunch) {
  CUarray array = small_array();
  const CUtexObject texture = make_texture(resource_of(array));
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  run("tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];", texture, {{}}, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("of an array that was destroyed"), std::string::npos);
}

TEST_F(DriverTexture, OtherGeometriesEndTheLaunch) {
  const CUtexObject texture = make_texture(resource_of(small_array()));
  run("tex.3d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1, %c2, %c2}];", texture, {{}},
      CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("another geometry"), std::string::npos);
}

TEST_F(DriverTexture, GathersNeedTheirFlag) {
  const CUtexObject texture = make_texture(resource_of(small_array()));
  run("tld4.r.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];", texture, {{}},
      CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("CUDA_ARRAY3D_TEXTURE_GATHER"), std::string::npos);
}

TEST_F(DriverTexture, EndsWithItsContext) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  const CUtexObject texture = make_texture(resource_of(small_array()));
  const CUsurfObject handle = make_surface(small_array(CUDA_ARRAY3D_SURFACE_LDST));
  ASSERT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC resource{};
  EXPECT_EQ(cuTexObjectGetResourceDesc(&resource, texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuSurfObjectGetResourceDesc(&resource, handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverTexture, SaysItsSize) {
  const Shape shape{8, 4, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED};
  CUmipmappedArray mipmapped = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &shape, 2), CUDA_SUCCESS);
  CUDA_TEXTURE_DESC description = plain();
  description.flags = CU_TRSF_NORMALIZED_COORDINATES;
  const CUtexObject texture = make_texture(resource_of(mipmapped), description);
  EXPECT_EQ(run_one("txq.width.b32 %d0, [%t]; txq.height.b32 %d1, [%t]; txq.depth.b32 %d2, [%t];\n"
                    "txq.array_size.b32 %d3, [%t];",
                    texture),
            (Results{8, 4, 0, 3}));
  EXPECT_EQ(run_one("txq.level.width.b32 %d0, [%t], %c0; txq.level.height.b32 %d1, [%t], %c0;\n"
                    "txq.num_mipmap_levels.b32 %d2, [%t]; txq.normalized_coords.b32 %d3, [%t];",
                    texture, {1}),
            (Results{4, 2, 2, 1}));
}

TEST_F(DriverTexture, AcceptsModifiersInAnyOrder) {
  CUarray array = make_array({4, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}, std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(
      sample("tex.v4.1d.f32.s32 " + d4 + ", [%t, {%c0}];", make_texture(resource_of(array)), {2}),
      3);
}

}  // namespace
}  // namespace cudacore::simulator
