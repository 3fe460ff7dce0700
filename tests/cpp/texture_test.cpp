// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cudacore/error.hpp"
#include "cudacore/surface_object.hpp"
#include "cudacore/synchronous_memory_resource.hpp"
#include "cudacore/system.hpp"
#include "cudacore/texture_object.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"
#include "messages.hpp"
#include "owner/captures.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;
using Options = OpaqueArrayOptions;

template <typename F>
std::string refusal_of(F&& call) {
  return testing::message_of<std::invalid_argument>(std::forward<F>(call));
}

Context context() { return Device(0).context(); }

/// The address that texture_alignment needs.
Buffer aligned_memory(std::size_t size = 4096, CUdeviceptr address = 0x10000) {
  return Buffer::from_handle(address, size);
}

class Textures : public testing::ReportsTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(fake.live(), 0);
    EXPECT_EQ(fake.misuses(), 0);
    EXPECT_EQ(testing::reports(), std::vector<std::string>());
    ReportsTest::TearDown();
  }
  static OpaqueArray make(std::vector<std::int64_t> shape = {8, 4},
                          ArrayFormat format = ArrayFormat::float32, bool is_surface = false) {
    return {context(), Options{std::move(shape), format, 1, is_surface}};
  }

  FakeDriver& fake = FakeDriver::fresh();
};

TEST_F(Textures, ArraysAreWhatTheyAreMadeAs) {
  const OpaqueArray array(context(), {{16, 8, 2}, ArrayFormat::uint16, 4, true});
  EXPECT_EQ(array.options().shape, (std::vector<std::int64_t>{16, 8, 2}));
  EXPECT_EQ(array.options().format, ArrayFormat::uint16);
  EXPECT_EQ(array.options().num_channels, 4);
  EXPECT_TRUE(array.options().is_surface_load_store);
  EXPECT_EQ(array.element_bytes(), 8U);
  EXPECT_EQ(array.size_bytes(), 16U * 8 * 2 * 8);
  EXPECT_EQ(array.device(), Device(0));
  EXPECT_EQ(fake.last_array.Depth, 2U);
  EXPECT_EQ(fake.last_array.Format, CU_AD_FORMAT_UNSIGNED_INT16);
  EXPECT_EQ(fake.last_array.Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
  (void)make({5});
  EXPECT_EQ(fake.last_array.Height, 0U);
}

TEST_F(Textures, WrongShapesAreRefusedWithoutADriverCall) {
  (void)context();
  (void)make();
  fake.forget_calls();
  const std::vector<Options> wrong{
      {{}, ArrayFormat::uint8, 1},
      {{1, 1, 1, 1}, ArrayFormat::uint8, 1},
      {{8, 0}, ArrayFormat::uint8, 1},
      {{-1}, ArrayFormat::uint8, 1},
      {{8}, ArrayFormat::uint8, 3},
      {{8}, ArrayFormat::uint8, 0},
      {{131073}, ArrayFormat::uint8, 1},
      {{1, 65537}, ArrayFormat::uint8, 1},
      {{1, 1, 32769}, ArrayFormat::uint8, 1},
      {{8193, 1, 16385}, ArrayFormat::uint8, 1},
      {{32769}, ArrayFormat::uint8, 1, true},
  };
  for (const Options& options : wrong) {
    EXPECT_THROW(OpaqueArray(context(), options), std::invalid_argument);
  }
  for (const int levels : {0, 8}) {
    EXPECT_THROW(MipmappedArray(context(), {{{64, 32}, ArrayFormat::uint8, 1}, levels}),
                 std::invalid_argument);
  }
  EXPECT_THROW(MipmappedArray(context(), {{{1, 32769}, ArrayFormat::uint8, 1}, 1}),
               std::invalid_argument);
  EXPECT_EQ(fake.count("cuArray3DCreate"), 0);
  EXPECT_EQ(fake.count("cuMipmappedArrayCreate"), 0);
  EXPECT_EQ(make({1, 1, 32768}).size_bytes(), 32768U * 4);  // by the other limits
  EXPECT_EQ(refusal_of([] { (void)make({131073}); }),
            "shape[0] is 131073, and device 0 (Fake GPU) takes up to 131072 "
            "(maximum_texture1d_width)");
}

TEST_F(Textures, CopiesMoveAllElements) {
  const Stream stream = Device(0).create_stream();
  const OpaqueArray array = make({8, 4});
  const Buffer memory = aligned_memory(128);
  array.copy_from(memory, stream);
  EXPECT_EQ(fake.last_copy.srcDevice, memory.handle());
  EXPECT_EQ(fake.last_copy.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(fake.last_copy.dstArray, array.handle());
  EXPECT_EQ(fake.last_copy.WidthInBytes, 32U);
  EXPECT_EQ(fake.last_copy.Height, 4U);
  EXPECT_EQ(fake.last_copy.Depth, 1U);
  EXPECT_EQ(fake.last_copy.srcPitch, 32U);
  array.copy_to(memory, stream);
  EXPECT_EQ(fake.last_copy.srcArray, array.handle());
  EXPECT_EQ(fake.last_copy.dstDevice, memory.handle());
}

TEST_F(Textures, CopiesOfTheWrongSizeAreRefused) {
  const Stream stream = Device(0).create_stream();
  const OpaqueArray array = make({8, 4});
  std::vector<std::byte> bytes(127);
  fake.forget_calls();
  EXPECT_EQ(refusal_of([&] { array.copy_from(bytes, stream); }),
            "the source has 127 bytes, smaller than the array extent (128 bytes)");
  EXPECT_THROW(array.copy_to(bytes, stream), std::invalid_argument);
  EXPECT_THROW(array.copy_to(aligned_memory(127), stream), std::invalid_argument);
  EXPECT_THROW(array.copy_from(Buffer(nullptr), stream), std::invalid_argument);
  EXPECT_THROW(array.copy_from(aligned_memory(128), Device(2).create_stream()),
               std::invalid_argument);
  EXPECT_EQ(fake.count("cuMemcpy3DAsync"), 0);
}

TEST_F(Textures, AClosedObjectIsRefused) {
  OpaqueArray array = make({8}, ArrayFormat::float32, true);
  MipmappedArray mipmaps(context(), {{{8}, ArrayFormat::float32, 1}, 1});
  TextureObject texture(context(), array);
  SurfaceObject surface(array);
  for (int i = 0; i < 2; ++i) {
    texture.close();
    surface.close();
    array.close();
    mipmaps.close();
  }
  EXPECT_EQ(fake.live(), 0);
  EXPECT_EQ(array.handle(), nullptr);
  EXPECT_EQ(mipmaps.handle(), nullptr);
  EXPECT_EQ(texture.handle(), 0U);
  EXPECT_EQ(surface.handle(), 0U);
  EXPECT_THROW((void)array.device(), std::invalid_argument);
  EXPECT_THROW((void)array.size_bytes(), std::invalid_argument);
  EXPECT_THROW((void)mipmaps.get_level(0), std::invalid_argument);
  EXPECT_THROW((void)texture.device(), std::invalid_argument);
  EXPECT_THROW((void)surface.device(), std::invalid_argument);
  EXPECT_THROW(TextureObject(context(), array), std::invalid_argument);
  EXPECT_THROW(TextureObject(context(), mipmaps), std::invalid_argument);
  EXPECT_THROW((SurfaceObject(array)), std::invalid_argument);
}

TEST_F(Textures, LevelsKeepTheMipmappedArray) {
  MipmappedArray mipmaps(context(), {{{64, 8}, ArrayFormat::uint8, 2}, 7});
  OpaqueArray level = mipmaps.get_level(6);
  EXPECT_EQ(level.options().shape, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(mipmaps.get_level(2).options().shape, (std::vector<std::int64_t>{16, 2}));
  EXPECT_THROW((void)mipmaps.get_level(7), std::invalid_argument);
  EXPECT_THROW((void)mipmaps.get_level(-1), std::invalid_argument);
  mipmaps.close();
  EXPECT_EQ(fake.live("mipmapped array"), 1);
  level.close();
  EXPECT_EQ(fake.live("mipmapped array"), 0);
}

TEST_F(Textures, TexturesKeepWhatTheyRead) {
  OpaqueArray array = make();
  TextureObject texture(context(), array);
  TextureObject copy = texture;
  array.close();
  texture.close();
  EXPECT_EQ(fake.live("array"), 1);
  fake.forget_calls();
  copy.close();
  const std::vector<std::string> calls = fake.calls();
  const auto place = [&](const char* name) {
    return std::find(calls.begin(), calls.end(), name) - calls.begin();
  };
  EXPECT_LT(place("cuTexObjectDestroy"), place("cuArrayDestroy"));
}

TEST_F(Textures, MemoryOfAnotherDeviceIsRefused) {
  const Buffer memory =
      std::make_shared<SynchronousMemoryResource>(Device(2))->allocate(4096, std::nullopt);
  EXPECT_THROW(TextureObject(context(), LinearMemory{memory, ArrayFormat::uint8, 1, 4096}),
               std::invalid_argument);
}

TEST_F(Textures, WorkIsWaitedForIfThereMayBeAny) {
  OpaqueArray array = make();
  TextureObject texture(context(), array);
  TextureObject unused(context(), array);
  (void)texture.handle();
  fake.forget_calls();
  unused.close();
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 0);
  texture.close();
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 1);
  array.close();
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 1);
}

TEST_F(Textures, CtrlCEndsTheWaitForWork) {
  OpaqueArray array = make();
  (void)array.handle();
  system::set_interrupt_hook([] { return true; });
  fake.busy = true;
  EXPECT_THROW(array.close(), InterruptedError);
  system::set_interrupt_hook(nullptr);
  EXPECT_TRUE(array.is_closed());
  EXPECT_EQ(fake.live("array"), 1);
  fake.busy = false;
  while (fake.live("array") != 0) std::this_thread::yield();
}

TEST_F(Textures, OnlyWorkThatUsesThemIsWaitedFor) {
  OpaqueArray used = make();
  OpaqueArray unused = make();
  used.copy_from(std::vector<std::byte>(128), Stream(StreamOptions{}));
  fake.queries_until_ready = std::numeric_limits<int>::max();
  fake.forget_calls();
  unused.close();
  EXPECT_EQ(fake.live("array"), 1);
  system::set_interrupt_hook([] { return true; });
  EXPECT_THROW(used.close(), InterruptedError);
  system::set_interrupt_hook(nullptr);
  EXPECT_EQ(fake.live("array"), 1);
  fake.queries_until_ready = 0;
  while (fake.live("array") != 0) std::this_thread::yield();
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 0);
}

TEST_F(Textures, OneEventIsEnoughForAStream) {
  const OpaqueArray array = make();
  const std::vector<std::byte> bytes(128);
  const Stream stream{StreamOptions{}};
  for (int i = 0; i < 3; ++i) array.copy_from(bytes, stream);
  const int events = fake.live("event");
  for (int i = 0; i < 100; ++i) array.copy_from(bytes, stream);
  EXPECT_EQ(fake.live("event"), events);
}

TEST_F(Textures, AHandleIsWaitedForOnceNothingIsCaptured) {
  OpaqueArray array = make();
  (void)array.handle();
  fake.forget_calls();
  ++owner::captures;
  array.close();
  EXPECT_EQ(fake.live("array"), 1);
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 0);
  --owner::captures;
  while (fake.live("array") != 0) std::this_thread::yield();
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 1);
}

TEST_F(Textures, CtrlCEndsTheWaitForTheLastLevel) {
  MipmappedArray mipmaps(context(), {{{8, 4}, ArrayFormat::float32, 1}, 2});
  OpaqueArray level = mipmaps.get_level(1);
  (void)level.handle();
  mipmaps.close();
  system::set_interrupt_hook([] { return true; });
  fake.busy = true;
  EXPECT_THROW(level.close(), InterruptedError);
  system::set_interrupt_hook(nullptr);
  fake.busy = false;
  while (fake.live("mipmapped array") != 0) std::this_thread::yield();
}

TEST_F(Textures, AllAreDestroyedInTheirContext) {
  const CUcontext wanted = context().handle();
  OpaqueArray array = make({8}, ArrayFormat::float32, true);
  TextureObject texture(context(), array);
  SurfaceObject surface(array);
  MipmappedArray mipmaps(context(), {{{8}, ArrayFormat::float32, 1}, 1});
  const std::vector<std::function<void()>> ends{[&] { texture.close(); }, [&] { surface.close(); },
                                                [&] { array.close(); }, [&] { mipmaps.close(); }};
  Device(2).set_current();
  const CUcontext other = FakeDriver::current();
  for (const auto& end : ends) {
    fake.ended_in = nullptr;
    end();
    EXPECT_EQ(fake.ended_in.load(), wanted);
    EXPECT_EQ(FakeDriver::current(), other);
  }
}

TEST_F(Textures, OptionsBecomeTheDriversFlags) {
  TextureObjectOptions options;
  options.address_modes = {AddressMode::wrap, AddressMode::mirror, AddressMode::border};
  options.filter_mode = FilterMode::linear;
  options.read_mode = ReadMode::normalized_float;
  options.normalized_coords = true;
  options.srgb = true;
  options.max_anisotropy = 4;
  options.mipmap_filter_mode = FilterMode::linear;
  options.mipmap_level_bias = 0.5F;
  options.max_mipmap_level_clamp = 3;
  options.border_color = {1, 2, 3, 4};
  const OpaqueArray array = make({8, 4}, ArrayFormat::uint8);
  const TextureObject texture(context(), array, options);
  EXPECT_EQ(fake.last_texture.addressMode[1], CU_TR_ADDRESS_MODE_MIRROR);
  EXPECT_EQ(fake.last_texture.filterMode, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(fake.last_texture.flags, unsigned{CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB});
  EXPECT_EQ(fake.last_texture.maxAnisotropy, 4U);
  EXPECT_EQ(fake.last_texture.mipmapFilterMode, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(fake.last_texture.mipmapLevelBias, 0.5F);
  EXPECT_EQ(fake.last_texture.maxMipmapLevelClamp, 3.0F);
  EXPECT_EQ(fake.last_texture.borderColor[3], 4.0F);
  EXPECT_EQ(fake.last_resource.resType, CU_RESOURCE_TYPE_ARRAY);
  const TextureObject plain(context(), array);
  EXPECT_EQ(fake.last_texture.flags, unsigned{CU_TRSF_READ_AS_INTEGER});
}

TEST_F(Textures, MemoryIsDescribed) {
  const TextureObject linear(context(),
                             LinearMemory{aligned_memory(), ArrayFormat::float16, 2, 4092});
  EXPECT_EQ(fake.last_resource.res.linear.devPtr, 0x10000U);
  EXPECT_EQ(fake.last_resource.res.linear.sizeInBytes, 4092U);
  EXPECT_EQ(fake.last_resource.res.linear.numChannels, 2U);
  const TextureObject pitched(context(),
                              PitchedMemory{aligned_memory(), ArrayFormat::uint8, 4, 10, 32, 64});
  EXPECT_EQ(fake.last_resource.resType, CU_RESOURCE_TYPE_PITCH2D);
  EXPECT_EQ(fake.last_resource.res.pitch2D.pitchInBytes, 64U);
  EXPECT_EQ(fake.last_resource.res.pitch2D.height, 32U);
}

TEST_F(Textures, WrongMemoryIsRefused) {
  const auto refused = [](const TextureResource& resource) {
    const std::string message = refusal_of([&] { TextureObject(context(), resource); });
    EXPECT_NE(message, "");
    return message;
  };
  const Buffer memory = aligned_memory();
  const ArrayFormat u8 = ArrayFormat::uint8;
  fake.forget_calls();
  refused(LinearMemory{memory, u8, 3, 4096});
  refused(LinearMemory{memory, u8, 1, 4097});
  refused(LinearMemory{memory, u8, 1, 0});
  refused(LinearMemory{memory, ArrayFormat::uint32, 1, 10});
  refused(LinearMemory{Buffer(nullptr), u8, 1, 16});
  refused(LinearMemory{aligned_memory(std::size_t{1} << 29U), u8, 1, (1U << 28U) + 1});
  EXPECT_EQ(refused(LinearMemory{aligned_memory(4096, 0x10010), u8, 1, 16}),
            "the address of the Buffer, 0x10010, must be a multiple of 512 bytes on device 0 "
            "(Fake GPU) (texture_alignment)");
  refused(PitchedMemory{memory, u8, 0, 8, 8, 64});
  refused(PitchedMemory{memory, u8, 1, 0, 8, 64});
  refused(PitchedMemory{memory, u8, 1, 8, 0, 64});
  refused(PitchedMemory{memory, u8, 1, 65, 8, 64});
  refused(PitchedMemory{memory, u8, 1, 8, 65, 64});
  refused(PitchedMemory{memory, u8, 1, 8, 8, 40});
  refused(PitchedMemory{memory, u8, 1, 131073, 1, 131104});
  refused(PitchedMemory{memory, u8, 1, 8, 65001, 32});
  refused(PitchedMemory{memory, u8, 1, 8, 1, 2097152});
  refused(PitchedMemory{Buffer(nullptr), u8, 1, 8, 8, 64});
  EXPECT_EQ(fake.count("cuTexObjectCreate"), 0);
}

TEST_F(Textures, ReadsThatTheFormatLacksAreRefused) {
  TextureObjectOptions linear;
  linear.filter_mode = FilterMode::linear;
  TextureObjectOptions normalized;
  normalized.read_mode = ReadMode::normalized_float;
  TextureObjectOptions between_levels;
  between_levels.normalized_coords = true;
  between_levels.mipmap_filter_mode = FilterMode::linear;
  TextureObjectOptions srgb;
  srgb.srgb = true;
  const OpaqueArray bytes = make({8}, ArrayFormat::uint8);
  const OpaqueArray words = make({8}, ArrayFormat::int32);
  const MipmappedArray mipmaps(context(), {{{8}, ArrayFormat::uint8, 1}, 2});
  fake.forget_calls();
  EXPECT_THROW(TextureObject(context(), bytes, linear), std::invalid_argument);
  EXPECT_THROW(TextureObject(context(), words, linear), std::invalid_argument);
  EXPECT_THROW(TextureObject(context(), words, normalized), std::invalid_argument);
  EXPECT_THROW(TextureObject(context(), words, srgb), std::invalid_argument);
  EXPECT_THROW(TextureObject(context(), mipmaps, between_levels), std::invalid_argument);
  EXPECT_EQ(refusal_of([&] { TextureObject(context(), mipmaps); }),
            "a texture of a MipmappedArray needs normalized_coords");
  EXPECT_EQ(fake.count("cuTexObjectCreate"), 0);
  const TextureObject ignored(context(), bytes, between_levels);
  const LinearMemory memory{aligned_memory(), ArrayFormat::uint32, 1, 4096};
  const TextureObject unfiltered(context(), memory, linear);
  linear.read_mode = ReadMode::normalized_float;
  const TextureObject filtered(context(), bytes, linear);
}

TEST_F(Textures, ArraysOfOtherContextsAreRefused) {
  const OpaqueArray array = make();
  const MipmappedArray mipmaps(context(), {{{8}, ArrayFormat::uint8, 1}, 1});
  EXPECT_EQ(refusal_of([&] { TextureObject(Device(2).context(), array); }),
            "the array is on device 0, and this is for device 2");
  EXPECT_THROW(TextureObject(Device(2).context(), mipmaps), std::invalid_argument);
  EXPECT_THROW((SurfaceObject(array)), std::invalid_argument);  // cannot be written
}

using Step = std::function<void()>;

class TexturesFail : public ::testing::TestWithParam<CUresult> {};

/// Fails the first call, then the second, and so on, until none is left to fail.
TEST_P(TexturesFail, NothingLeaks) {
  system::set_log_hook([](const char*) {});
  FakeDriver& fake = FakeDriver::fresh();
  const Step step = [] {
    const Stream stream = Device(0).create_stream();
    OpaqueArray array(context(), {{8, 4}, ArrayFormat::float32, 1, true});
    array.copy_from(aligned_memory(128), stream);
    const MipmappedArray mipmaps(context(), {{{8, 4}, ArrayFormat::float32, 1}, 2});
    const OpaqueArray level = mipmaps.get_level(1);
    level.copy_to(aligned_memory(32), stream);
    const TextureObject texture(context(), array);
    TextureObjectOptions normalized;
    normalized.normalized_coords = true;
    const TextureObject mipmapped(context(), mipmaps, normalized);
    const TextureObject linear(context(),
                               LinearMemory{aligned_memory(), ArrayFormat::float32, 1, 4096});
    SurfaceObject surface(array);
    (void)surface.handle();
    surface.close();
  };
  int calls = 0;
  for (bool fired = true; fired; ++calls) {
    ASSERT_LT(calls, 200);
    FakeDriver::fresh();
    fake.fail_call(calls + 1, GetParam());
    try {
      step();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), static_cast<int>(GetParam())) << error.what();
    }
    fired = fake.fired();
    EXPECT_EQ(fake.live(), 0) << fake.fired_function();
    EXPECT_EQ(fake.misuses(), 0) << fake.fired_function();
  }
  EXPECT_GT(calls, 10);
  FakeDriver::fresh();
  system::set_log_hook(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Codes, TexturesFail,
                         ::testing::Values(CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE));

}  // namespace
}  // namespace cudacore
