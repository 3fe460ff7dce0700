// SPDX-License-Identifier: Apache-2.0
//
// Layers, cubes, levels and footprints of textures. The expected values are written down by hand,
// or come from properties of what the arrays contain.
#include <cmath>

#include "texture_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr unsigned normalized = CU_TRSF_NORMALIZED_COORDINATES;
const std::string d4 = "{%d0, %d1, %d2, %d3}";

class TextureGeometry : public TextureTest {
 protected:
  /// Each plane's elements are 100 * plane + 10 * row + column.
  static std::vector<float> planes(int width, int height, int count) {
    std::vector<float> values;
    for (int z = 0; z < count; ++z) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) values.push_back(static_cast<float>(100 * z + 10 * y + x));
      }
    }
    return values;
  }

  /// A square mipmapped array; all elements of level l are 10 * l + 1.
  static CUmipmappedArray mipmaps(std::size_t width, unsigned count) {
    const Shape shape{width, width, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray mipmapped = nullptr;
    EXPECT_EQ(cuMipmappedArrayCreate(&mipmapped, &shape, count), CUDA_SUCCESS);
    for (unsigned level = 0; level < count; ++level) {
      CUarray array = nullptr;
      EXPECT_EQ(cuMipmappedArrayGetLevel(&array, mipmapped, level), CUDA_SUCCESS);
      const std::size_t size = width >> level;
      upload(array, std::vector<float>(size * size, static_cast<float>(10 * level + 1)));
    }
    return mipmapped;
  }
  static CUDA_TEXTURE_DESC levels(CUfilter_mode filter, float most = 100) {
    CUDA_TEXTURE_DESC description =
        sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, normalized);
    description.mipmapFilterMode = filter;
    description.maxMipmapLevelClamp = most;
    return description;
  }
};

TEST_F(TextureGeometry, LayersOfRows) {
  CUarray array =
      make_array({4, 0, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, planes(4, 1, 3));
  const CUtexObject nearest = make_texture(resource_of(array));
  const CUtexObject linear =
      make_texture(resource_of(array), sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  const std::string tex = "tex.a1d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];";
  EXPECT_EQ(sample(tex, nearest, {2, word(1.7F)}), 201);
  EXPECT_EQ(sample(tex, linear, {1, word(1.75F)}), 101.25F);
  // A layer is never filtered, and is clamped.
  EXPECT_EQ(sample(tex, linear, {7, word(1.5F)}), 201);
  EXPECT_EQ(sample("tex.a1d.v4.f32.s32 " + d4 + ", [%t, {%c0, %c1}];", linear, {1, 3}), 103);
}

TEST_F(TextureGeometry, LayersOfPlanes) {
  CUarray array =
      make_array({4, 3, 2, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, planes(4, 3, 2));
  const CUtexObject texture = make_texture(
      resource_of(array), sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR, normalized));
  const std::string tex = "tex.a2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1, %c2, %c2}];";
  EXPECT_EQ(sample(tex, texture, {1, word(0.625F), word(0.5F)}), 112);
  EXPECT_EQ(sample(tex, texture, {0, word(0.5F), word(0.5F)}), 11.5F);
  EXPECT_EQ(sample(tex, texture, {0, word(1), word(0.5F)}), 11.5F);
  EXPECT_EQ(sample("tex.level.a2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1, %c2, %c2}], %c3;", texture,
                   {1, word(0.625F), word(0.5F), word(3)}),
            112);
}

TEST_F(TextureGeometry, ViewsOfLayers) {
  CUarray array =
      make_array({2, 2, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, planes(2, 2, 5));
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  view.width = 2;
  view.height = 2;
  view.depth = 5;
  view.firstLayer = 2;
  view.lastLayer = 3;
  const CUDA_RESOURCE_DESC resource = resource_of(array);
  const CUDA_TEXTURE_DESC description = sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  CUtexObject texture = 0;
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &description, &view), CUDA_SUCCESS);
  const std::string tex = "tex.a2d.v4.u32.s32 " + d4 + ", [%t, {%c0, %c1, %c2, %c2}];";
  EXPECT_EQ(run_one(tex, texture, {0, 1, 1}), (Results{word(211), 0, 0, 1}));
  EXPECT_EQ(run_one(tex, texture, {4, 0, 1}), (Results{word(310), 0, 0, 1}));
}

TEST_F(TextureGeometry, FacesOfCubes) {
  CUarray array =
      make_array({4, 4, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}, planes(4, 4, 6));
  const CUtexObject texture = make_texture(resource_of(array));
  const std::string tex = "tex.cube.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1, %c2, %c2}];";
  struct Case {
    float x, y, z;
    int face;
    // Where on the face, from -1 to 1.
    float s, t;
  };
  const Case cases[] = {
      {2, 0.2F, 0.6F, 0, -0.3F, -0.1F},    {-2, 0.2F, 0.6F, 1, 0.3F, -0.1F},
      {0.6F, 2, 1.8F, 2, 0.3F, 0.9F},      {0.6F, -2, 1.8F, 3, 0.3F, -0.9F},
      {1.8F, -1.2F, 2, 4, 0.9F, 0.6F},     {1.8F, -1.2F, -2, 5, -0.9F, 0.6F},
      {-0.5F, -0.5F, 8, 4, -0.06F, 0.06F}, {0.3F, 0.2F, -0.4F, 5, -0.75F, -0.5F},
  };
  for (const Case& it : cases) {
    const int column = static_cast<int>((it.s + 1) * 2);
    const int row = static_cast<int>((it.t + 1) * 2);
    EXPECT_EQ(sample(tex, texture, {word(it.x), word(it.y), word(it.z)}),
              static_cast<float>(100 * it.face + 10 * row + column))
        << it.x << " " << it.y << " " << it.z;
  }
  // Even directions without a face read some element.
  for (const float odd : {0.0F, std::nanf(""), HUGE_VALF}) {
    EXPECT_GE(sample(tex, texture, {word(odd), word(odd), word(odd)}), 0);
  }
}

TEST_F(TextureGeometry, LayersOfCubes) {
  CUarray array =
      make_array({2, 2, 12, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
                 planes(2, 2, 12));
  const CUtexObject texture = make_texture(resource_of(array));
  const std::string tex = "tex.acube.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1, %c2, %c3}];";
  EXPECT_EQ(sample(tex, texture, {0, word(0.5F), word(-0.5F), word(-4)}), 510);
  EXPECT_EQ(sample(tex, texture, {1, word(0.5F), word(-0.5F), word(-4)}), 1110);
  EXPECT_EQ(sample(tex, texture, {9, word(-0.5F), word(-0.5F), word(-4)}), 1111);
}

TEST_F(TextureGeometry, LevelsAreChosenAndMixed) {
  CUmipmappedArray array = mipmaps(8, 4);
  const std::string tex = "tex.level.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c0}], %c1;";
  const auto at = [&](CUtexObject texture, float level) {
    return sample(tex, texture, {word(0.4F), word(level)});
  };
  const CUtexObject nearest = make_texture(resource_of(array), levels(CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ(at(nearest, -3), 1);
  EXPECT_EQ(at(nearest, 0.4F), 1);
  EXPECT_EQ(at(nearest, 0.6F), 11);
  EXPECT_EQ(at(nearest, 2), 21);
  EXPECT_EQ(at(nearest, 50), 31);
  EXPECT_EQ(at(nearest, std::nanf("")), 1);
  const CUtexObject linear = make_texture(resource_of(array), levels(CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ(at(linear, 0.5F), 6);
  EXPECT_EQ(at(linear, 1.25F), 13.5F);
  EXPECT_EQ(at(linear, 3.5F), 31);
  EXPECT_EQ(at(linear, -1), 1);
  CUDA_TEXTURE_DESC limited = levels(CU_TR_FILTER_MODE_LINEAR, 2.5F);
  limited.minMipmapLevelClamp = 0.75F;
  limited.mipmapLevelBias = 1;
  const CUtexObject clamped = make_texture(resource_of(array), limited);
  EXPECT_EQ(at(clamped, -2), 8.5F);
  EXPECT_EQ(at(clamped, 0.5F), 16);
  EXPECT_EQ(at(clamped, 9), 26);
  // Without a level it is the base level.
  EXPECT_EQ(sample("tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c0}];", clamped, {word(0.4F)}), 1);
  const CUtexObject unset = make_texture(resource_of(array), levels(CU_TR_FILTER_MODE_LINEAR, 0));
  EXPECT_EQ(at(unset, 2), 1);
}

TEST_F(TextureGeometry, GradientsChooseLevels) {
  CUmipmappedArray array = mipmaps(8, 4);
  const CUtexObject linear = make_texture(resource_of(array), levels(CU_TR_FILTER_MODE_LINEAR));
  const std::string tex =
      "tex.grad.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c0}], {%c1, %c2}, {%c3, %c4};";
  const auto at = [&](float x1, float y1, float x2, float y2) {
    return sample(tex, linear, {word(0.5F), word(x1), word(y1), word(x2), word(y2)});
  };
  EXPECT_EQ(at(0.125F, 0, 0, 0.125F), 1);  // one element
  EXPECT_EQ(at(0.25F, 0, 0, 0.125F), 11);  // two: the longer one counts
  EXPECT_EQ(at(0, 0, 0, 0.5F), 21);        // four
  EXPECT_EQ(at(0, 0, -0.3F, 0.4F), 21);    // four, by Pythagoras
  EXPECT_EQ(at(0, 0, 0, 0), 1);
  EXPECT_EQ(at(HUGE_VALF, 0, 0, 0), 31);
  EXPECT_EQ(at(std::nanf(""), 0, 0, 0), 1);
}

TEST_F(TextureGeometry, ViewsOfLevels) {
  CUmipmappedArray array = mipmaps(8, 4);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = 8;
  view.height = 8;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const CUDA_RESOURCE_DESC resource = resource_of(array);
  const CUDA_TEXTURE_DESC description = levels(CU_TR_FILTER_MODE_POINT);
  CUtexObject texture = 0;
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &description, &view), CUDA_SUCCESS);
  const std::string tex = "tex.level.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c0}], %c1;";
  EXPECT_EQ(sample(tex, texture, {word(0.4F), word(0)}), 11);
  EXPECT_EQ(sample(tex, texture, {word(0.4F), word(3)}), 21);
  CUDA_RESOURCE_VIEW_DESC kept{};
  ASSERT_EQ(cuTexObjectGetResourceViewDesc(&kept, texture), CUDA_SUCCESS);
  EXPECT_EQ(kept.lastMipmapLevel, 2U);
}

TEST_F(TextureGeometry, FootprintsAreGathered) {
  const Shape shape{4, 3, 0, CU_AD_FORMAT_UNSIGNED_INT8, 2, CUDA_ARRAY3D_TEXTURE_GATHER};
  std::vector<std::uint8_t> values;
  for (std::uint8_t i = 0; i < 12; ++i) {
    values.push_back(i);
    values.push_back(static_cast<std::uint8_t>(100 + i));
  }
  CUarray array = make_array(shape, values);
  const CUtexObject texture = make_texture(
      resource_of(array),
      sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER));
  const auto gathered = [&](const char* channel, float x, float y) {
    return run_one(std::string("tld4.") + channel + ".2d.v4.u32.f32 " + d4 + ", [%t, {%c0, %c1}];",
                   texture, {word(x), word(y)});
  };
  // Elements (1,1), (2,1), (1,2) and (2,2), counterclockwise from the lower left.
  EXPECT_EQ(gathered("r", 2.2F, 1.9F), (Results{9, 10, 6, 5}));
  EXPECT_EQ(gathered("g", 2.2F, 1.9F), (Results{109, 110, 106, 105}));
  EXPECT_EQ(gathered("b", 2.2F, 1.9F), (Results{0, 0, 0, 0}));
  EXPECT_EQ(gathered("a", 2.2F, 1.9F), (Results{1, 1, 1, 1}));
  EXPECT_EQ(gathered("r", 0.1F, 0.1F), (Results{0, 0, 0, 0}));
  EXPECT_EQ(gathered("r", 9, 9), (Results{11, 11, 11, 11}));
}

}  // namespace
}  // namespace cudacore::simulator
