// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/graphics_resource.hpp"
#include "cudacore/memory_resource.hpp"
#include "cudacore/system.hpp"
#include "cudacore/texture_object.hpp"
#include "fake_driver.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::FakeDriver;
using testing::message_of;

/// What the driver was asked for, and which function fails.
struct Seen {
  std::vector<std::string> calls;
  std::string failing;
  unsigned flags = 0;
  CUDA_ARRAY3D_DESCRIPTOR array{};
  unsigned levels = 1;
};
Seen seen;

CUresult enter(const char* function) {
  seen.calls.emplace_back(function);
  return seen.failing == function ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult register_buffer(CUgraphicsResource* resource, unsigned /*buffer*/, unsigned flags) {
  if (const CUresult fault = enter("register")) return fault;
  seen.flags = flags;
  *resource = reinterpret_cast<CUgraphicsResource>(0x100);
  return CUDA_SUCCESS;
}
CUresult register_image(CUgraphicsResource* resource, unsigned image, unsigned /*target*/,
                        unsigned flags) {
  return register_buffer(resource, image, flags);
}
CUresult end_resource(CUgraphicsResource /*resource*/) { return enter("unregister"); }
CUresult map(unsigned count, CUgraphicsResource* /*resources*/, CUstream /*stream*/) {
  EXPECT_EQ(count, 1U);
  return enter("map");
}
CUresult unmap(unsigned count, CUgraphicsResource* /*resources*/, CUstream stream) {
  EXPECT_EQ(count, 1U);
  FakeDriver::get().free_streams.push_back(stream);
  return enter("unmap");
}
CUresult pointer_of(CUdeviceptr* pointer, std::size_t* size, CUgraphicsResource /*resource*/) {
  if (const CUresult fault = enter("pointer")) return fault;
  *pointer = 0x7000;
  *size = 512;
  return CUDA_SUCCESS;
}
CUresult part_of(CUarray* array, CUgraphicsResource /*resource*/, unsigned /*layer*/,
                 unsigned /*level*/) {
  *array = reinterpret_cast<CUarray>(0x200);
  return enter("array");
}
CUresult levels_of(CUmipmappedArray* array, CUgraphicsResource /*resource*/) {
  *array = reinterpret_cast<CUmipmappedArray>(0x300);
  return enter("levels");
}
CUresult level_of(CUarray* level, CUmipmappedArray /*array*/, unsigned index) {
  *level = reinterpret_cast<CUarray>(std::uintptr_t{0x400} + index);
  return index < seen.levels ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult describe(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray /*array*/) {
  *description = seen.array;
  return enter("describe");
}

using Calls = std::vector<std::string>;

class Graphics : public ::testing::Test {
 protected:
  void SetUp() override {
    seen = Seen{};
    seen.array.Width = 16;
    seen.array.Height = 8;
    seen.array.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    seen.array.NumChannels = 4;
    driver::DriverApi& table = fake.table();
    level_before = table.cuMipmappedArrayGetLevel;
    table.cuGraphicsGLRegisterBuffer = &register_buffer;
    table.cuGraphicsGLRegisterImage = &register_image;
    table.cuGraphicsUnregisterResource = &end_resource;
    table.cuGraphicsMapResources = &map;
    table.cuGraphicsUnmapResources = &unmap;
    table.cuGraphicsResourceGetMappedPointer = &pointer_of;
    table.cuGraphicsSubResourceGetMappedArray = &part_of;
    table.cuGraphicsResourceGetMappedMipmappedArray = &levels_of;
    table.cuMipmappedArrayGetLevel = &level_of;
    table.cuArray3DGetDescriptor = &describe;
    Device(0).set_current();
  }
  void TearDown() override { fake.table().cuMipmappedArrayGetLevel = level_before; }

  static Calls calls() { return std::exchange(seen.calls, {}); }

  FakeDriver& fake = FakeDriver::fresh();
  decltype(driver::DriverApi::cuMipmappedArrayGetLevel) level_before = nullptr;
};

TEST_F(Graphics, ABufferIsUnmappedOnTheStreamOfItsRelease) {
  const Stream stream;
  const Stream other;
  {
    auto resource = GraphicsResource::from_gl_buffer(5, {.is_write_discard = true});
    EXPECT_EQ(seen.flags, unsigned{CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD});
    Buffer buffer = resource.map(stream);
    EXPECT_TRUE(resource.is_mapped());
    EXPECT_EQ(buffer.handle(), 0x7000U);
    EXPECT_EQ(buffer.size(), 512U);
    EXPECT_EQ(buffer.device_id(), 0);
    EXPECT_THROW((void)resource.map(stream), std::invalid_argument);
    EXPECT_THROW((void)buffer.memory_resource()->allocate(1, stream), NotSupportedError);
    fake.free_streams.clear();
    buffer.close(other);
    EXPECT_FALSE(resource.is_mapped());
    buffer = resource.map(stream);
    Buffer part = buffer.slice(0, 8);
    buffer.close();
    EXPECT_TRUE(resource.is_mapped());
    resource.close();
    EXPECT_TRUE(resource.is_closed());
    EXPECT_FALSE(resource.is_mapped());
    EXPECT_EQ(resource.handle(), nullptr);
    EXPECT_THROW((void)resource.map(stream), std::invalid_argument);
    part.close();
    EXPECT_EQ(fake.free_streams, (std::vector<CUstream>{other.handle(), stream.handle()}));
  }
  EXPECT_EQ(calls(), (Calls{"register", "map", "pointer", "unmap", "map", "pointer", "unmap",
                            "unregister"}));
}

TEST_F(Graphics, AnImageIsMappedAsLongAsSomethingReadsIt) {
  const Stream stream;
  auto resource = GraphicsResource::from_gl_image(6, 0x0DE1, {.is_surface_load_store = true});
  OpaqueArray array = resource.map_array(1, 2, stream);
  EXPECT_EQ(array.options().shape, (std::vector<std::int64_t>{16, 8}));
  EXPECT_EQ(array.options().num_channels, 4);
  {
    const TextureObject texture(Device(0).context(), array, {});
    array.close();
    EXPECT_TRUE(resource.is_mapped());
  }
  EXPECT_FALSE(resource.is_mapped());
  seen.levels = 3;
  MipmappedArray levels = resource.map_mipmapped_array(stream);
  EXPECT_EQ(levels.options().num_levels, 3);
  const Stream other;
  resource.set_unmapping_stream(other);
  {
    const OpaqueArray level = levels.get_level(2);
    EXPECT_EQ(level.options().shape, (std::vector<std::int64_t>{4, 2}));
    levels.close();
    EXPECT_TRUE(resource.is_mapped());
  }
  EXPECT_FALSE(resource.is_mapped());
  EXPECT_EQ(fake.free_streams.back(), other.handle());
  EXPECT_THROW(resource.set_unmapping_stream(other), std::invalid_argument);
  EXPECT_EQ(fake.count("cuArrayDestroy") + fake.count("cuMipmappedArrayDestroy"), 0)
      << "what is OpenGL's";
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 0) << "the stream orders all";
}

TEST_F(Graphics, WhateverFailsLeavesNothingMapped) {
  const Stream stream;
  seen.failing = "register";
  EXPECT_TRUE(contains(message_of<Error>([] { (void)GraphicsResource::from_gl_buffer(9); }),
                       "buffer 9 of the OpenGL context"));
  EXPECT_EQ(calls(), Calls{"register"});
  auto resource = [] {
    seen.failing.clear();
    return GraphicsResource::from_gl_image(9, 1);
  }();
  const auto fails = [&](const char* function, const Calls& expected, const auto& use) {
    (void)calls();
    seen.failing = function;
    EXPECT_THROW(use(), Error) << function;
    EXPECT_FALSE(resource.is_mapped()) << function;
    EXPECT_EQ(calls(), expected) << function;
  };
  fails("map", {"map"}, [&] { (void)resource.map(stream); });
  fails("pointer", {"map", "pointer", "unmap"}, [&] { (void)resource.map(stream); });
  fails("array", {"map", "array", "unmap"}, [&] { (void)resource.map_array(0, 0, stream); });
  fails("describe", {"map", "array", "describe", "unmap"},
        [&] { (void)resource.map_array(0, 0, stream); });
  fails("levels", {"map", "levels", "unmap"}, [&] { (void)resource.map_mipmapped_array(stream); });
  seen.array.Flags = CUDA_ARRAY3D_CUBEMAP;
  fails("", {"map", "levels", "describe", "unmap"},
        [&] { (void)resource.map_mipmapped_array(stream); });
  seen.array.Flags = 0;
  seen.array.Format = CU_AD_FORMAT_NV12;
  EXPECT_TRUE(
      contains(message_of<NotSupportedError>([&] { (void)resource.map_array(0, 0, stream); }),
               "CUarray_format 176"));
  fails("", {"map", "array", "describe", "unmap"}, [&] { (void)resource.map_array(0, 0, stream); });
}

TEST_F(Graphics, StreamsThatCannotMapAreRefusedFirst) {
  const auto resource = GraphicsResource::from_gl_buffer(1);
  const Stream stream;
  (void)calls();
  fake.captured = stream.handle();
  EXPECT_TRUE(contains(message_of<std::invalid_argument>([&] { (void)resource.map(stream); }),
                       "being captured"));
  fake.captured = nullptr;
  const Stream elsewhere = Device(1).create_stream();
  EXPECT_TRUE(contains(message_of<std::invalid_argument>([&] { (void)resource.map(elsewhere); }),
                       "the stream is of device 1"));
  EXPECT_EQ(calls(), Calls{});
}

TEST_F(Graphics, AFailureToUnmapIsReported) {
  const Stream stream;
  const auto resource = GraphicsResource::from_gl_buffer(1);
  const unsigned long long before = system::unraisable_errors();
  {
    const Buffer buffer = resource.map(stream);
    seen.failing = "unmap";
  }
  EXPECT_EQ(system::unraisable_errors(), before + 1);
}

}  // namespace
}  // namespace cudacore
