// SPDX-License-Identifier: Apache-2.0
//
// What kernels read from textures. The expected values follow the programming guide's chapter on
// texture fetching, in terms of coordinates, one dimension inside of another.
#include <cmath>
#include <functional>
#include <limits>

#include "texture_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr unsigned normalized = CU_TRSF_NORMALIZED_COORDINATES;
const std::string d4 = "{%d0, %d1, %d2, %d3}";
constexpr float border_color = -3.5F;

constexpr CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP,
                                    CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER};
constexpr CUfilter_mode filters[] = {CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR};

/// One dimension of the guide's formulas.
struct Axis {
  int length;
  CUaddress_mode mode;
  bool is_linear;
  bool is_normalized;

  /// The value at x of a function of integers; `color` lies outside.
  [[nodiscard]] double at(double x, double color, const std::function<double(int)>& value) const {
    if (is_normalized) {
      const double fraction = x - std::floor(x);
      const bool is_odd = std::fmod(std::floor(x), 2.0) != 0;
      if (mode == CU_TR_ADDRESS_MODE_WRAP) x = fraction;
      if (mode == CU_TR_ADDRESS_MODE_MIRROR) x = is_odd ? 1 - fraction : fraction;
      x *= length;
    }
    const auto element = [&](double index) {
      const bool is_inside = index >= 0 && index < length;
      if (mode == CU_TR_ADDRESS_MODE_BORDER) return is_inside ? value(int(index)) : color;
      if (mode == CU_TR_ADDRESS_MODE_WRAP && is_normalized) {
        return value((int(index) + length) % length);
      }
      return value(int(std::fmin(std::fmax(index, 0), length - 1)));
    };
    if (!is_linear) return element(std::floor(x));
    const double below = std::floor(x - 0.5);
    const double alpha = std::round((x - 0.5 - below) * 256) / 256;
    return (1 - alpha) * element(below) + alpha * element(below + 1);
  }
};

/// Coordinates that hit no boundary exactly, inside and outside of [0, length).
std::vector<float> coordinates(int length, bool is_normalized) {
  std::vector<float> list;
  for (float x = -2.3F; x < 3.4F; x += 0.0371F) {
    list.push_back(is_normalized ? x : x * static_cast<float>(length));
  }
  return list;
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 37 + 11) % 64) / 4 - 5;
  }
  return values;
}

class TextureFetch : public TextureTest {
 protected:
  static CUtexObject texture_of(CUarray array, CUaddress_mode mode, CUfilter_mode filter,
                                unsigned flags) {
    CUDA_TEXTURE_DESC description = sampler(mode, filter, flags);
    description.borderColor[0] = border_color;
    return make_texture(resource_of(array), description);
  }
};

TEST_F(TextureFetch, FollowsTheGuideInOneDimension) {
  for (const int length : {1, 2, 5, 8}) {
    const std::vector<float> values = ramp(static_cast<std::size_t>(length));
    CUarray array = make_array({values.size(), 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}, values);
    for (const CUaddress_mode mode : modes) {
      for (const CUfilter_mode filter : filters) {
        for (const unsigned flags : {0U, normalized}) {
          const Axis axis{length, mode, filter == CU_TR_FILTER_MODE_LINEAR, flags != 0};
          const CUtexObject texture = texture_of(array, mode, filter, flags);
          const std::vector<float> xs = coordinates(length, flags != 0);
          std::vector<Words> words;
          for (const float x : xs) words.push_back({word(x)});
          const auto results = run("tex.1d.v4.f32.f32 " + d4 + ", [%t, {%c0}];", texture, words);
          for (std::size_t i = 0; i < xs.size(); ++i) {
            const double expected =
                axis.at(xs[i], border_color, [&](int at) { return values[std::size_t(at)]; });
            EXPECT_NEAR(number(results[i][0]), expected, 1e-5)
                << length << " mode " << mode << " filter " << filter << " flags " << flags << " x "
                << xs[i];
            EXPECT_EQ(number(results[i][3]), 1);
          }
          EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
        }
      }
    }
    EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  }
}

TEST_F(TextureFetch, FollowsTheGuideInThreeDimensions) {
  constexpr int lengths[] = {5, 4, 3};
  const std::vector<float> values = ramp(60);
  CUarray solid = make_array({5, 4, 3, CU_AD_FORMAT_FLOAT, 1, 0}, values);
  CUarray flat = make_array({5, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                            std::vector<float>(values.begin(), values.begin() + 20));
  for (std::size_t pick = 0; pick < std::size(modes); ++pick) {
    for (const CUfilter_mode filter : filters) {
      for (const unsigned flags : {0U, normalized}) {
        const bool is_linear = filter == CU_TR_FILTER_MODE_LINEAR;
        CUDA_TEXTURE_DESC description = sampler(modes[pick], filter, flags);
        // Each dimension has its own mode.
        description.addressMode[1] = modes[(pick + 1) % 4];
        description.addressMode[2] = modes[(pick + 2) % 4];
        description.borderColor[0] = border_color;
        const Axis across{5, description.addressMode[0], is_linear, flags != 0};
        const Axis down{4, description.addressMode[1], is_linear, flags != 0};
        const Axis deep{3, description.addressMode[2], is_linear, flags != 0};
        std::vector<Words> words;
        std::vector<std::array<float, 3>> places;
        for (int i = 0; i < 400; ++i) {
          std::array<float, 3> place{std::fmod(static_cast<float>(i) * 0.1237F, 3.1F) - 1.03F,
                                     std::fmod(static_cast<float>(i) * 0.3391F, 3.3F) - 1.11F,
                                     std::fmod(static_cast<float>(i) * 0.2713F, 2.9F) - 0.97F};
          for (std::size_t k = 0; k < 3 && flags == 0; ++k) {
            place[k] *= static_cast<float>(lengths[k]);
          }
          places.push_back(place);
          words.push_back({word(place[0]), word(place[1]), word(place[2])});
        }
        const auto row = [&](float x, int y, int z) {
          return across.at(x, border_color, [&](int at) {
            return values[static_cast<std::size_t>((z * 4 + y) * 5 + at)];
          });
        };
        const auto plane = [&](float x, float y, int z) {
          return down.at(y, border_color, [&](int at) { return row(x, at, z); });
        };
        const CUtexObject flat_texture = make_texture(resource_of(flat), description);
        const CUtexObject solid_texture = make_texture(resource_of(solid), description);
        const auto in_plane =
            run("tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];", flat_texture, words);
        const auto in_solid =
            run("tex.3d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1, %c2, %c2}];", solid_texture, words);
        for (std::size_t i = 0; i < places.size(); ++i) {
          const auto [x, y, z] = places[i];
          // The product of two weights is rounded to 1/256, and elements differ by up to 16.
          EXPECT_NEAR(number(in_plane[i][0]), plane(x, y, 0), is_linear ? 16.0 / 256 : 1e-5)
              << pick << " " << filter << " " << flags << " at " << x << " " << y;
          const double expected =
              deep.at(z, border_color, [&, x = x, y = y](int at) { return plane(x, y, at); });
          EXPECT_NEAR(number(in_solid[i][0]), expected, 1e-5)
              << pick << " " << filter << " " << flags << " at " << x << " " << y << " " << z;
        }
      }
    }
  }
}

TEST_F(TextureFetch, WeightsInTwoDimensionsHaveEightBits) {
  // 100/256 to the right, 77/256 down: 100 * 77 / 256 is 30.1.
  constexpr int expected[] = {256 - 100 - 77 + 30, 100 - 30, 77 - 30, 30};
  const Words place{word(0.5F + 100.0F / 256), word(0.5F + 77.0F / 256)};
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<float> values(4, 0);
    values[i] = 1;
    CUarray array = make_array({2, 2, 0, CU_AD_FORMAT_FLOAT, 1, 0}, values);
    const CUtexObject texture =
        texture_of(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    EXPECT_EQ(sample("tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];", texture, place),
              static_cast<float>(expected[i]) / 256);
  }
}

TEST_F(TextureFetch, ReadsEveryFormat) {
  const auto read = [&](CUarray_format format, unsigned channels, const auto& elements,
                        unsigned flags) {
    CUarray array = make_array({1, 0, 0, format, channels, 0}, elements);
    const CUtexObject texture = make_texture(
        resource_of(array), sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, flags));
    return run_one("tex.1d.v4.u32.s32 " + d4 + ", [%t, {%c0}];", texture);
  };
  using U8 = std::vector<std::uint8_t>;
  using S8 = std::vector<std::int8_t>;
  using U16 = std::vector<std::uint16_t>;
  using S16 = std::vector<std::int16_t>;
  constexpr unsigned integers = CU_TRSF_READ_AS_INTEGER;
  const auto all_ones = ~std::uint32_t{0};
  EXPECT_EQ(read(CU_AD_FORMAT_UNSIGNED_INT8, 4, U8{1, 2, 254, 255}, integers),
            (Results{1, 2, 254, 255}));
  EXPECT_EQ(read(CU_AD_FORMAT_SIGNED_INT8, 2, S8{-1, 7}, integers), (Results{all_ones, 7, 0, 1}));
  EXPECT_EQ(read(CU_AD_FORMAT_UNSIGNED_INT16, 1, U16{65535}, integers), (Results{65535, 0, 0, 1}));
  EXPECT_EQ(read(CU_AD_FORMAT_SIGNED_INT16, 1, S16{-1}, integers), (Results{all_ones, 0, 0, 1}));
  EXPECT_EQ(read(CU_AD_FORMAT_UNSIGNED_INT32, 1, std::vector<std::uint32_t>{all_ones}, 0),
            (Results{all_ones, 0, 0, 1}));
  EXPECT_EQ(read(CU_AD_FORMAT_SIGNED_INT32, 2, std::vector<std::int32_t>{-5, 5}, 0),
            (Results{static_cast<std::uint32_t>(-5), 5, 0, 1}));
  EXPECT_EQ(read(CU_AD_FORMAT_HALF, 2, U16{0x3c00, 0xc000}, 0),
            (Results{word(1), word(-2), 0, word(1)}));
  EXPECT_EQ(read(CU_AD_FORMAT_FLOAT, 1, std::vector<float>{0.5F}, 0),
            (Results{word(0.5F), 0, 0, word(1)}));
  EXPECT_EQ(read(CU_AD_FORMAT_UNSIGNED_INT8, 4, U8{0, 51, 255, 102}, 0),
            (Results{0, word(51.0F / 255), word(1), word(102.0F / 255)}));
  EXPECT_EQ(read(CU_AD_FORMAT_SIGNED_INT8, 4, S8{-128, -127, 127, 0}, 0),
            (Results{word(-1), word(-1), word(1), 0}));
  EXPECT_EQ(read(CU_AD_FORMAT_UNSIGNED_INT16, 2, U16{65535, 13107}, 0),
            (Results{word(1), word(13107.0F / 65535), 0, word(1)}));
  EXPECT_EQ(read(CU_AD_FORMAT_SIGNED_INT16, 2, S16{-32768, 32767}, 0),
            (Results{word(-1), word(1), 0, word(1)}));
  const Results color = read(CU_AD_FORMAT_UNSIGNED_INT8, 4, U8{0, 10, 188, 128}, CU_TRSF_SRGB);
  EXPECT_EQ(number(color[0]), 0);
  EXPECT_NEAR(number(color[1]), 10.0 / 255 / 12.92, 1e-7);
  EXPECT_NEAR(number(color[2]), std::pow((188.0 / 255 + 0.055) / 1.055, 2.4), 1e-6);
  EXPECT_EQ(number(color[3]), 128.0F / 255);
}

TEST_F(TextureFetch, ReadsElementsByIndex) {
  const std::vector<float> values = ramp(12);
  CUarray array = make_array({4, 3, 0, CU_AD_FORMAT_FLOAT, 1, 0}, values);
  const std::string tex = "tex.2d.v4.f32.s32 " + d4 + "|%p1, [%t, {%c0, %c1}];";
  const CUtexObject clamped =
      texture_of(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
  const CUtexObject bordered =
      texture_of(array, CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_POINT, 0);
  for (std::uint32_t y = 0; y < 3; ++y) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      EXPECT_EQ(sample(tex, clamped, {x, y}), values[y * 4 + x]);
      EXPECT_EQ(sample(tex, bordered, {x, y}), values[y * 4 + x]);
    }
  }
  constexpr std::uint32_t minus = ~std::uint32_t{0};
  EXPECT_EQ(sample(tex, clamped, {minus, 9}), values[8]);
  EXPECT_EQ(sample(tex, bordered, {minus, 0}), border_color);
  EXPECT_EQ(sample(tex, bordered, {0, 0x80000000}), border_color);
}

TEST_F(TextureFetch, SurvivesAnyCoordinate) {
  CUarray array = make_array({5, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0}, ramp(20));
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const float odd[] = {std::numeric_limits<float>::quiet_NaN(),
                       infinite,
                       -infinite,
                       3e38F,
                       -3e38F,
                       1e-45F,
                       -0.0F,
                       4294967296.0F,
                       -2147483648.0F,
                       16777217.0F};
  std::vector<Words> words;
  for (const float x : odd) {
    for (const float y : odd) words.push_back({word(x), word(y), 0, 0, word(x), word(y), word(y)});
  }
  for (const CUaddress_mode mode : modes) {
    for (const CUfilter_mode filter : filters) {
      for (const unsigned flags : {0U, normalized}) {
        const CUtexObject texture = texture_of(array, mode, filter, flags);
        for (const std::string& tex :
             {"tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];",
              "tex.2d.v4.f32.s32 " + d4 + ", [%t, {%c0, %c1}];",
              "tex.level.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}], %c4;",
              "tex.grad.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}], {%c4, %c5}, {%c6, %c4};"}) {
          for (const Results& result : run(tex, texture, words)) {
            EXPECT_TRUE(std::isfinite(number(result[0])));
          }
        }
      }
    }
  }
}

TEST_F(TextureFetch, ReadsLinearMemory) {
  const std::vector<float> values = ramp(100);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  auto& linear = resource.res.linear;
  ASSERT_EQ(cuMemAlloc_v2(&linear.devPtr, 400), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD_v2(linear.devPtr, values.data(), 400), CUDA_SUCCESS);
  linear.format = CU_AD_FORMAT_FLOAT;
  linear.numChannels = 2;
  linear.sizeInBytes = 400;
  // Filters and modes are ignored.
  const CUtexObject texture =
      make_texture(resource, sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR));
  const std::string tex = "tex.1d.v4.f32.s32 " + d4 + ", [%t, {%c0}];";
  for (std::uint32_t i = 0; i < 50; ++i) {
    const Results result = run_one(tex, texture, {i});
    EXPECT_EQ(number(result[0]), values[2 * i]);
    EXPECT_EQ(number(result[1]), values[2 * i + 1]);
  }
  for (const std::uint32_t outside : {50U, 0x7fffffffU, 0x80000000U, ~0U}) {
    EXPECT_EQ(sample(tex, texture, {outside}), 0);
  }
  ASSERT_EQ(cuMemFree_v2(linear.devPtr), CUDA_SUCCESS);
  run(tex, texture, {{3}}, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("in freed memory"), std::string::npos) << newest_log();
}

TEST_F(TextureFetch, ReadsPitchedMemory) {
  const std::vector<float> values = ramp(64 * 6);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  auto& pitched = resource.res.pitch2D;
  ASSERT_EQ(cuMemAlloc_v2(&pitched.devPtr, values.size() * 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD_v2(pitched.devPtr, values.data(), values.size() * 4), CUDA_SUCCESS);
  pitched.format = CU_AD_FORMAT_FLOAT;
  pitched.numChannels = 1;
  pitched.width = 7;
  pitched.height = 6;
  pitched.pitchInBytes = 256;
  const CUtexObject texture =
      make_texture(resource, sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  const std::string tex = "tex.2d.v4.f32.f32 " + d4 + ", [%t, {%c0, %c1}];";
  const auto at = [&](std::size_t x, std::size_t y) { return values[y * 64 + x]; };
  EXPECT_EQ(sample(tex, texture, {word(2.5F), word(3.5F)}), at(2, 3));
  EXPECT_EQ(sample(tex, texture, {word(3), word(3.5F)}), (at(2, 3) + at(3, 3)) / 2);
  EXPECT_EQ(sample(tex, texture, {word(100), word(100)}), at(6, 5));
}

}  // namespace
}  // namespace cudacore::simulator
