// SPDX-License-Identifier: Apache-2.0
//
// Arrays and textures in the C++ library, on the simulated device or, with CUDACORE_DRIVER=default,
// on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "cudacore/device.hpp"
#include "cudacore/graph_builder.hpp"
#include "cudacore/graph_memory_resource.hpp"
#include "cudacore/memory_resource.hpp"
#include "cudacore/surface_object.hpp"
#include "cudacore/texture_object.hpp"

namespace cudacore {
namespace {

class TextureWork : public ::testing::Test {
 protected:
  void SetUp() override { device.set_current(); }

  /// Bytes that count.
  static std::vector<std::byte> numbers(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
    return bytes;
  }

  Device device = Device(0);
  Stream stream = device.create_stream();
};

TEST_F(TextureWork, ArraysKeepTheirElements) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{16}, {8, 4}, {4, 3, 2}}) {
    const OpaqueArray array(device.context(), {shape, ArrayFormat::int16, 2, false});
    const std::vector<std::byte> source = numbers(array.size_bytes());
    std::vector<std::byte> result(source.size());
    array.copy_from(source, stream);
    array.copy_to(result, stream);
    stream.sync();
    EXPECT_EQ(result, source);
  }
}

TEST_F(TextureWork, LevelsOutliveTheMipmappedArray) {
  MipmappedArray mipmaps(device.context(), {{{8, 8}, ArrayFormat::uint8, 1, false}, 3});
  OpaqueArray level = mipmaps.get_level(1);
  mipmaps.close();
  const std::vector<std::byte> source = numbers(16);
  std::vector<std::byte> result(16);
  level.copy_from(source, stream);
  level.copy_to(result, stream);
  stream.sync();
  EXPECT_EQ(result, source);
  level.close();
}

TEST_F(TextureWork, GraphsKeepTheArraysThatTheyCopy) {
  OpaqueArray array(device.context(), {{4}, ArrayFormat::uint32, 1, false});
  const Buffer memory = device.allocate(16, stream);
  const std::vector<std::byte> source = numbers(16);
  memory.copy_from(source, stream);
  stream.sync();
  const GraphBuilder builder(stream);
  builder.begin_building();
  array.copy_from(memory, stream);
  array.copy_to(memory, stream);
  builder.end_building();
  const Graph graph = builder.complete();
  array.close();
  graph.launch(stream);
  std::vector<std::byte> result(16);
  memory.copy_to(result, stream);
  stream.sync();
  EXPECT_EQ(result, source);
}

TEST_F(TextureWork, GraphsFreeTheirMemoryOnceItIsCopied) {
  const OpaqueArray array(device.context(), {{4}, ArrayFormat::uint32, 1, false});
  const GraphBuilder builder(stream);
  builder.begin_building();
  Buffer scratch = std::make_shared<GraphMemoryResource>(device)->allocate(16, stream);
  scratch.fill(0, 1, stream);
  array.copy_from(scratch, stream);
  scratch.close();
  builder.end_building();
  EXPECT_EQ(builder.graph_definition().nodes().back().kind(), GraphNodeKind::release);
}

TEST_F(TextureWork, TexturesAndSurfacesKeepTheirArray) {
  OpaqueArray array(device.context(), {{8, 8}, ArrayFormat::float32, 1, true});
  TextureObjectOptions options;
  options.filter_mode = FilterMode::linear;
  TextureObject texture(device.context(), array, options);
  SurfaceObject surface(array);
  array.close();
  EXPECT_NE(texture.handle(), 0U);
  EXPECT_NE(surface.handle(), 0U);
  EXPECT_EQ(texture.device(), device);
  texture.close();
  surface.close();
  EXPECT_THROW((void)texture.device(), std::invalid_argument);
}

TEST_F(TextureWork, LinearMemoryIsAligned) {
  const Buffer memory = device.allocate(4096, stream);
  const LinearMemory whole{memory, ArrayFormat::float16, 4, 4096};
  EXPECT_NE(TextureObject(device.context(), whole).handle(), 0U);
  const LinearMemory part{memory.slice(8, 64), ArrayFormat::float16, 4, 64};
  EXPECT_THROW(TextureObject(device.context(), part), std::invalid_argument);
}

}  // namespace
}  // namespace cudacore
