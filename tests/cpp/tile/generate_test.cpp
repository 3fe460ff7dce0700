// SPDX-License-Identifier: Apache-2.0
#include "tile/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tile/error.hpp"

namespace cudacore::tile {
namespace {

constexpr const char* scaled = R"(tile 1
file 0 "/home/me/scale.py"
kernel "scale" {
  param %0 : ptr<f32> {align = 16}
  param %1 : f32
  hint warps = 1
  %2 = load %0, origin(0), shape(128), strides(1) : f32[128] @0:3:5
  %3 = broadcast %1 : f32[128]
  %4 = mul %2, %3 : f32[128] @0:4:5
  store %0, %4, origin(0), shape(128), strides(1) @0:5:5
  return
}
)";

TEST(TileGenerate, PrintsReadableText) {
  const Generated generated = generate(scaled, {});
  EXPECT_EQ(generated.entry, "scale");
  EXPECT_EQ(generated.threads, 32);
  EXPECT_EQ(generated.shared_bytes, 0);
  EXPECT_EQ(generated.source, R"(#include <cudacore/tile/base.cuh>

using namespace cudacore_tile;

extern "C" __global__ void __launch_bounds__(32) scale(f32* v0, f32 v1) {
  u32 tid = threadIdx.x;
  (void)tid;
#line 3 "/home/me/scale.py"
  i32 v2_0 = i32((tid << 2));
#line 3
  const f32* const v2_at = v0 + i64(v2_0);
#line 3
  alignas(16) f32 v2[4];
#line 3
  TILE_EACH(g, 1) load_vector<4>(&v2[(g * 4)], v2_at);
#line 5
  i32 store_0_0 = i32((tid << 2));
#line 5
  f32* const store_0_at = v0 + i64(store_0_0);
#line 5
  alignas(16) f32 v4_1[4];
#line 5
  TILE_EACH(r, 4) v4_1[r] = (v2[r] * v1);
#line 5
  TILE_EACH(g, 1) store_vector<4>(store_0_at, &v4_1[(g * 4)]);
#line 5
  return;
}
)");
}

TEST(TileGenerate, PutsTheUsersSourceInFront) {
  const Generated generated = generate(R"(tile 1
source "/home/me/\"softplus.py" 7 "__device__ float softplus(float x) {\n  return x;\n}"
kernel "k" {
  param %0 : ptr<f32> {align = 16}
  hint warps = 1
  %1 = load %0, origin(0), shape(128), strides(1) : f32[128]
  %2 = call %1 {name = "softplus"} : f32[128]
  store %0, %2, origin(0), shape(128), strides(1)
  return
}
)",
                                       {});
  // A guard lets the sources of several kernels be compiled as one.
  const std::string front = generated.source.substr(0, generated.source.find("#include"));
  EXPECT_EQ(front.find("#ifndef TILE_HAS_source"), 0U) << front;
  EXPECT_EQ(front.substr(front.find("#line")),
            "#line 7 \"/home/me/\\\"softplus.py\"\n"
            "__device__ float softplus(float x) {\n  return x;\n}\n"
            "#endif\n#line 9 \"k.cu\"\n");
  EXPECT_NE(generated.source.find("::softplus("), std::string::npos);
}

TEST(TileGenerate, TakesHintsOverThoseOfTheText) {
  Options options;
  options.hints["warps"] = 4;
  EXPECT_EQ(generate(scaled, options).threads, 128);
  options.hints["warps"] = 3;
  EXPECT_THROW(static_cast<void>(generate(scaled, options)), std::exception);
}

TEST(TileGenerate, HasTheTextsOfItsHeaders) {
  const std::string source = generate(scaled, {}).source;
  constexpr std::string_view include = "#include <";
  std::size_t count = 0;
  for (std::size_t at = source.find(include); at != std::string::npos;
       at = source.find(include, at + 1), ++count) {
    const std::size_t begin = at + include.size();
    const std::string name = source.substr(begin, source.find('>', begin) - begin);
    EXPECT_TRUE(std::any_of(headers().begin(), headers().end(), [&](const auto& header) {
      return header.first == name;
    })) << name;
  }
  EXPECT_GT(count, 0U);
}

TEST(TileGenerate, PlacesNoBarrierBetweenWhatEachThreadTouchesAlone) {
  EXPECT_EQ(generate(scaled, {}).source.find("__syncthreads"), std::string::npos);
}

// A kernel that loads a row of bf16 and stores it, or its sum, and perhaps what all blocks load.
std::string row(int columns, bool sums, bool has_weights = false) {
  const std::string size = std::to_string(columns);
  const std::string tile = "bf16[" + size + "]";
  std::string text = R"(tile 1
kernel "row" {
  param %0 : ptr<bf16> {align = 16}
  param %1 : ptr<bf16> {align = 16}
  param %2 : i32 {div = 16}
  %5 = bid {axis = 0} : i32
  %7 = const {value = 64} : i32
  %8 = mul %5, %7 : i32
  %3 = load %0, origin(%8), shape(%2), strides(1) {pad = neg_inf} : )" +
                     tile + "\n";
  if (has_weights)
    text += "  %6 = load %1, origin(0), shape(%2), strides(1) {pad = zero} : " + tile +
            "\n  store %1, %6, origin(%8), shape(%2), strides(1)\n";
  if (sums)
    text += "  %4 = reduce %3 {axis = 0, identity = (0.0e0)} : bf16 (%a : bf16, %b : bf16) {\n" +
            std::string("    %c = add %a, %b : bf16\n    yield %c\n  }\n") +
            "  store %1, %4, origin(0), shape(1), strides(1)\n";
  else
    text += "  store %1, %3, origin(0), shape(%2), strides(1)\n";
  return text + "  return\n}\n";
}

TEST(TileGenerate, ChoosesThreadsForTheBytesThatMove) {
  EXPECT_EQ(generate(row(4096, false), {}).threads, 256);
  EXPECT_EQ(generate(row(4096, true), {}).threads, 128);
  EXPECT_EQ(generate(row(16384, true), {}).threads, 512);
  EXPECT_EQ(generate(row(65536, true), {}).threads, 512);
  EXPECT_EQ(generate(row(4096, true, true), {}).threads, 256);
}

TEST(TileGenerate, ChoosesBetweenWholeVectorsAndPadding) {
  const std::string source = generate(row(4096, false), {}).source;
  EXPECT_NE(source.find("load_words_const_if<8>("), std::string::npos) << source;
  EXPECT_NE(source.find("bf16::of(0xff80)"), std::string::npos) << source;
}

TEST(TileGenerate, LeavesTheCacheToWhatAllBlocksLoad) {
  const auto kernel = [](const std::string& second) {
    return generate(R"(tile 1
kernel "scale" {
  param %0 : ptr<f32> {align = 16}
  param %1 : ptr<f32> {align = 16}
  param %2 : ptr<f32> {align = 16}
  param %n : i32 {div = 16}
  hint warps = 1
  %b = bid {axis = 0} : i32
  %c = const {value = 128} : i32
  %i = mul %b, %c : i32
  %x = load %0, origin(%i), shape(%n), strides(1) : f32[128]
  %w = load %1, origin()" +
                        second + R"(), shape(%n), strides(1) : f32[128]
  %y = mul %x, %w : f32[128]
  store %2, %y, origin(%i), shape(%n), strides(1)
  return
}
)",
                    {})
        .source;
  };
  EXPECT_NE(kernel("0").find("load_words_stream_if<4>"), std::string::npos) << kernel("0");
  EXPECT_NE(kernel("0").find("load_words_const_if<4>"), std::string::npos) << kernel("0");
  EXPECT_EQ(kernel("%i").find("stream"), std::string::npos) << kernel("%i");
}

TEST(TileGenerate, KeepsFarOrigins) {
  const std::string source = generate(R"(tile 1
kernel "far" {
  param %0 : ptr<f32> {align = 16}
  param %n : i32
  hint warps = 1
  %1 = load %0, origin(-4294967296), shape(%n), strides(1) : f32[128]
  store %0, %1, origin(4294967296), shape(%n), strides(1)
  return
}
)",
                                      {})
                                 .source;
  EXPECT_NE(source.find("\n  i64 v1_0 = -4294967296 + i32("), std::string::npos) << source;
  EXPECT_NE(source.find("\n  i64 store_0_0 = 4294967296 + i32("), std::string::npos) << source;
}

// The compiler's front end tries a const integer's initializer as a constant expression, through
// all const integers that it names, so long chains of them would take it minutes.
TEST(TileGenerate, MakesNoChainsOfConstNumbers) {
  const std::string source = generate(R"(tile 1
kernel "chain" {
  param %p : ptr<i32> {align = 16}
  hint warps = 1
  %b = bid {axis = 0} : i32
  %c = add %b, %b : i32
  %d = mul %c, %b : i32
  %e = broadcast %d : i32[128]
  store %p, %e, origin(%d), shape(4096), strides(1)
  return
}
)",
                                      {})
                                 .source;
  EXPECT_NE(source.find("\n  i32 vb = i32("), std::string::npos) << source;
  EXPECT_NE(source.find("\n  i32 vd = i32(u32(vc)"), std::string::npos) << source;
  EXPECT_EQ(source.find("const i32"), std::string::npos) << source;
}

TEST(TileGenerate, LoadsAgainWhatOverlaps) {
  const auto kernel = [](const std::string& groups) {
    return generate(R"(tile 1
kernel "shift" {
  param %0 : ptr<f32> {align = 16)" +
                        groups + R"(}
  param %1 : ptr<f32> {align = 16)" +
                        groups + R"(}
  param %z : ptr<f32> {align = 16}
  hint warps = 1
  %2 = load %0, origin(0), shape(256), strides(1) : f32[128]
  store %1, %2, origin(0), shape(256), strides(1)
  %3 = load %0, origin(0), shape(256), strides(1) : f32[128]
  store %z, %3, origin(0), shape(256), strides(1)
  return
}
)",
                    {})
        .source;
  };
  const auto has = [](const std::string& source, const char* what) {
    return source.find(what) != std::string::npos;
  };
  EXPECT_TRUE(has(kernel(""), "_const<"));
  EXPECT_FALSE(has(kernel(""), "__syncthreads"));
  EXPECT_TRUE(has(kernel(", alias = (\"other\")"), "__syncthreads"));
  EXPECT_FALSE(has(kernel(", alias = (\"other\")"), "_const<"));
  EXPECT_THROW(static_cast<void>(kernel(", alias = 1")), Error);
  EXPECT_THROW(static_cast<void>(kernel(", alias = (1)")), Error);
}

}  // namespace
}  // namespace cudacore::tile
