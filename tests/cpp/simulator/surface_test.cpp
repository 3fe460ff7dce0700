// SPDX-License-Identifier: Apache-2.0
//
// What kernels load from surfaces and store into them.
#include <numeric>

#include "texture_test_support.hpp"

namespace cudacore::simulator {
namespace {

constexpr unsigned surface = CUDA_ARRAY3D_SURFACE_LDST;
const std::string d4 = "{%d0, %d1, %d2, %d3}";

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1U);
  return values;
}

class SurfaceAccess : public TextureTest {
 protected:
  /// An array of words, counted from 1.
  static CUarray words_of(std::size_t width, std::size_t height, std::size_t depth,
                          unsigned flags = 0) {
    const std::size_t count =
        width * std::max<std::size_t>(height, 1) * std::max<std::size_t>(depth, 1);
    return make_array({width, height, depth, CU_AD_FORMAT_UNSIGNED_INT32, 1, surface | flags},
                      counting(count));
  }
};

TEST_F(SurfaceAccess, LoadsEveryGeometry) {
  const auto load = [&](CUarray array, const std::string& geometry, const std::string& at,
                        const Words& words) {
    return run_one("suld.b." + geometry + ".b32.trap {%d0}, [%t, {" + at + "}];",
                   make_surface(array), words)[0];
  };
  EXPECT_EQ(load(words_of(8, 0, 0), "1d", "%c0", {12}), 4U);
  EXPECT_EQ(load(words_of(8, 4, 0), "2d", "%c0, %c1", {12, 2}), 20U);
  EXPECT_EQ(load(words_of(8, 4, 3), "3d", "%c0, %c1, %c2, %c2", {12, 2, 1}), 52U);
  EXPECT_EQ(load(words_of(8, 0, 3, CUDA_ARRAY3D_LAYERED), "a1d", "%c0, %c1", {2, 4}), 18U);
  EXPECT_EQ(load(words_of(8, 4, 3, CUDA_ARRAY3D_LAYERED), "a2d", "%c0, %c1, %c2, %c2", {2, 4, 1}),
            74U);
  EXPECT_EQ(load(words_of(4, 4, 6, CUDA_ARRAY3D_CUBEMAP), "a2d", "%c0, %c1, %c2, %c2", {5, 4, 1}),
            86U);
}

TEST_F(SurfaceAccess, LoadsEveryWidth) {
  CUarray array = words_of(16, 0, 0);
  const CUsurfObject handle = make_surface(array);
  EXPECT_EQ(run_one("suld.b.1d.v4.b32.trap " + d4 + ", [%t, {%c0}];", handle, {16}),
            (Results{5, 6, 7, 8}));
  EXPECT_EQ(run_one("suld.b.1d.v2.b32.trap {%d0, %d1}, [%t, {%c0}];", handle, {8}),
            (Results{3, 4, 0, 0}));
  EXPECT_EQ(run_one("suld.b.1d.v2.b64.trap {%x0, %x1}, [%t, {%c0}];\n"
                    "mov.b64 {%d0, %d1}, %x0; mov.b64 {%d2, %d3}, %x1;",
                    handle, {32}),
            (Results{9, 10, 11, 12}));
  EXPECT_EQ(run_one("suld.b.1d.v4.b16.trap {%h0, %h1, %h2, %h3}, [%t, {%c0}];\n"
                    "cvt.u32.u16 %d0, %h0; cvt.u32.u16 %d1, %h1; cvt.u32.u16 %d2, %h2;\n"
                    "cvt.u32.u16 %d3, %h3;",
                    handle, {8}),
            (Results{3, 0, 4, 0}));
  EXPECT_EQ(run_one("suld.b.1d.v2.b8.trap {%h0, %h1}, [%t, {%c0}];\n"
                    "cvt.u32.u16 %d0, %h0; cvt.u32.u16 %d1, %h1;",
                    handle, {4}),
            (Results{2, 0, 0, 0}));
}

TEST_F(SurfaceAccess, StoresEveryGeometry) {
  struct Case {
    Shape shape;
    std::string store;
    std::size_t changed;
  };
  const auto shape = [](std::size_t width, std::size_t height, std::size_t depth, unsigned flags) {
    return Shape{width, height, depth, CU_AD_FORMAT_UNSIGNED_INT32, 1, surface | flags};
  };
  const Case cases[] = {
      {shape(8, 0, 0, 0), "1d.b32.trap [%t, {%c1}], {%c3};", 3},
      {shape(8, 4, 0, 0), "2d.b32.trap [%t, {%c1, %c2}], {%c3};", 19},
      {shape(8, 4, 3, 0), "3d.b32.trap [%t, {%c1, %c2, %c0, %c0}], {%c3};", 51},
      {shape(8, 0, 3, CUDA_ARRAY3D_LAYERED), "a1d.b32.trap [%t, {%c0, %c1}], {%c3};", 11},
      {shape(8, 4, 3, CUDA_ARRAY3D_LAYERED), "a2d.b32.trap [%t, {%c0, %c1, %c2, %c2}], {%c3};", 51},
  };
  for (const Case& it : cases) {
    const std::size_t count = it.shape.Width * std::max<std::size_t>(it.shape.Height, 1) *
                              std::max<std::size_t>(it.shape.Depth, 1);
    CUarray array = make_array(it.shape, counting(count));
    run_one("sust.b." + it.store, make_surface(array), {1, 12, 2, 77});
    std::vector<std::uint32_t> expected = counting(count);
    expected[it.changed] = 77;
    EXPECT_EQ(download<std::uint32_t>(array, count), expected) << it.store;
  }
}

TEST_F(SurfaceAccess, StoresEveryWidth) {
  CUarray array = make_array({8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, surface},
                             std::vector<std::uint32_t>(8, 0));
  const CUsurfObject handle = make_surface(array);
  run_one("sust.b.1d.v4.b32.trap [%t, {%c0}], {%c1, %c2, %c3, %c4};", handle, {0, 1, 2, 3, 4});
  run_one("mov.b64 %x0, {%c1, %c2}; sust.b.1d.b64.trap [%t, {%c0}], {%x0};", handle, {16, 5, 6});
  run_one("cvt.u16.u32 %h0, %c1; sust.b.1d.v2.b16.trap [%t, {%c0}], {%h0, %h0};", handle, {24, 7});
  run_one("cvt.u16.u32 %h0, %c1; sust.b.1d.b8.trap [%t, {%c0}], {%h0};", handle, {29, 0x1ff});
  EXPECT_EQ(download<std::uint32_t>(array, 8),
            (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 0x70007, 0xff00}));
}

TEST_F(SurfaceAccess, OutOfRangeIsZeroOrClamped) {
  CUarray array = words_of(4, 3, 0);
  const CUsurfObject handle = make_surface(array);
  const auto load = [&](const std::string& mode, int x, int y) {
    return run_one("suld.b.2d.b32." + mode + " {%d0}, [%t, {%c0, %c1}];", handle,
                   {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)})[0];
  };
  constexpr int least = -2147483647 - 1;
  for (const auto& [x, y] : {std::pair{-4, 0}, {16, 0}, {0, 3}, {0, -1}, {least, least}}) {
    EXPECT_EQ(load("zero", x, y), 0U) << x << " " << y;
  }
  EXPECT_EQ(load("zero", 12, 2), 12U);
  EXPECT_EQ(load("clamp", -4, 1), 5U);
  EXPECT_EQ(load("clamp", 100, 1), 8U);
  EXPECT_EQ(load("clamp", 2147483647, 2147483647), 12U);
  EXPECT_EQ(load("clamp", least, least), 1U);
  run_one("sust.b.2d.b32.zero [%t, {%c0, %c1}], {%c2};", handle, {16, 0, 99});
  EXPECT_EQ(download<std::uint32_t>(array, 12), counting(12));
  run_one("sust.b.2d.b32.clamp [%t, {%c0, %c1}], {%c2};", handle, {16, 9, 99});
  EXPECT_EQ(download<std::uint32_t>(array, 12)[11], 99U);
}

TEST_F(SurfaceAccess, OutOfRangeTraps) {
  run("suld.b.2d.b32.trap {%d0}, [%t, {%c0, %c1}];", make_surface(words_of(4, 3, 0)), {{16, 0}},
      CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(newest_log().find("kernel 'k', block (0,0,0), thread (0,0,0): suld.b.2d.b32.trap"),
            std::string::npos)
      << newest_log();
  EXPECT_NE(newest_log().find("out of its bounds"), std::string::npos) << newest_log();
}

TEST_F(SurfaceAccess, MisalignedIsAnError) {
  run("suld.b.1d.b32.zero {%d0}, [%t, {%c0}];", make_surface(words_of(4, 0, 0)), {{2}},
      CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_F(SurfaceAccess, FormattedStoresConvert) {
  const auto stored = [&](CUarray_format format, unsigned channels, const Words& words) {
    CUarray array = make_array({2, 2, 0, format, channels, surface});
    run_one("sust.p.2d.v4.b32.trap [%t, {%c0, %c1}], {%c4, %c5, %c6, %c7};", make_surface(array),
            words);
    return array;
  };
  constexpr auto minus = static_cast<std::uint32_t>(-300);
  EXPECT_EQ(
      download<std::uint8_t>(stored(CU_AD_FORMAT_UNSIGNED_INT8, 2, {1, 0, 0, 0, 5, 300, 7, 8}), 8),
      (std::vector<std::uint8_t>{0, 0, 5, 255, 0, 0, 0, 0}));
  EXPECT_EQ(
      download<std::int8_t>(stored(CU_AD_FORMAT_SIGNED_INT8, 1, {0, 1, 0, 0, minus, 0, 0, 0}), 4),
      (std::vector<std::int8_t>{0, 0, -128, 0}));
  EXPECT_EQ(
      download<std::uint16_t>(stored(CU_AD_FORMAT_HALF, 1, {1, 1, 0, 0, word(1.5F), 0, 0, 0}), 4),
      (std::vector<std::uint16_t>{0, 0, 0, 0x3e00}));
  EXPECT_EQ(download<float>(stored(CU_AD_FORMAT_FLOAT, 1, {0, 0, 0, 0, word(-2.5F), 0, 0, 0}), 4),
            (std::vector<float>{-2.5F, 0, 0, 0}));
}

TEST_F(SurfaceAccess, LevelsOfMipmaps) {
  const Shape shape{8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, surface};
  CUmipmappedArray mipmapped = nullptr;
  CUarray level = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &shape, 3), CUDA_SUCCESS);
  ASSERT_EQ(cuMipmappedArrayGetLevel(&level, mipmapped, 1), CUDA_SUCCESS);
  const CUsurfObject handle = make_surface(level);
  run_one("sust.b.2d.b32.trap [%t, {%c0, %c1}], {%c2};", handle, {12, 3, 42});
  EXPECT_EQ(download<std::uint32_t>(level, 16)[15], 42U);
}

TEST_F(SurfaceAccess, SaysItsSize) {
  const CUsurfObject handle = make_surface(words_of(8, 4, 3, CUDA_ARRAY3D_LAYERED));
  EXPECT_EQ(run_one("suq.width.b32 %d0, [%t]; suq.height.b32 %d1, [%t]; suq.depth.b32 %d2, [%t];\n"
                    "suq.array_size.b32 %d3, [%t];",
                    handle),
            (Results{8, 4, 0, 3}));
}

TEST_F(SurfaceAccess, TexturesSeeWhatEarlierKernelsStored) {
  CUarray array = words_of(4, 4, 0);
  const CUsurfObject handle = make_surface(array);
  run_one("sust.b.2d.b32.trap [%t, {%c0, %c1}], {%c2};", handle, {8, 3, 1234});
  const CUtexObject texture = make_texture(resource_of(array));
  EXPECT_EQ(run_one("tex.2d.v4.u32.s32 " + d4 + ", [%t, {%c0, %c1}];", texture, {2, 3})[0], 1234U);
}

}  // namespace
}  // namespace cudacore::simulator
