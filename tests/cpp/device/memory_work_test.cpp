// SPDX-License-Identifier: Apache-2.0
//
// Managed memory, batches, strided copies, registered host memory and words of streams in the C++
// library, on the simulated device or, with CUDACORE_DRIVER=default, on a GPU.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "cudacore/copy_options.hpp"
#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/graph_builder.hpp"
#include "cudacore/host_registration.hpp"
#include "cudacore/legacy_pinned_memory_resource.hpp"
#include "cudacore/managed_buffer.hpp"
#include "cudacore/managed_memory_resource.hpp"
#include "cudacore/stream_value.hpp"
#include "cudacore/strided_memory.hpp"

namespace cudacore {
namespace {

class MemoryWork : public ::testing::Test {
 protected:
  void SetUp() override { device.set_current(); }

  [[nodiscard]] Buffer pinned(std::size_t size) const {
    Buffer buffer = resource->allocate(size, stream);
    std::memset(buffer.host_pointer(), 0, size);
    return buffer;
  }
  static std::vector<int> ints(const Buffer& buffer) {
    std::vector<int> values(buffer.size() / sizeof(int));
    std::memcpy(values.data(), buffer.host_pointer(), buffer.size());
    return values;
  }

  Device device = Device(0);
  Stream stream = device.create_stream();
  std::shared_ptr<LegacyPinnedMemoryResource> resource =
      std::make_shared<LegacyPinnedMemoryResource>();
};

TEST_F(MemoryWork, AdvisesOnManagedMemory) {
  const auto pool = std::make_shared<ManagedMemoryResource>();
  const ManagedBuffer buffer(pool->allocate(4096, stream));
  const MemoryLocation on_device = MemoryLocation::device(0);
  EXPECT_FALSE(buffer.read_mostly());
  try {
    buffer.set_read_mostly(true);
  } catch (const NotSupportedError& error) {
    GTEST_SKIP() << error.what();  // some drivers take no advice on memory of pools
  }
  EXPECT_TRUE(buffer.read_mostly());
  EXPECT_FALSE(buffer.preferred_location().has_value());
  buffer.set_preferred_location(MemoryLocation::host_numa(0));
  EXPECT_EQ(buffer.preferred_location(), MemoryLocation::host_numa(0));
  buffer.set_accessed_by(on_device, true);
  EXPECT_EQ(buffer.accessed_by(), std::vector{on_device});
  buffer.set_accessed_by(on_device, false);
  EXPECT_TRUE(buffer.accessed_by().empty());
}

TEST_F(MemoryWork, PrefetchesAndDiscards) {
  const auto pool = std::make_shared<ManagedMemoryResource>();
  const std::array buffers{ManagedBuffer(pool->allocate(4096, stream)),
                           ManagedBuffer(pool->allocate(4096, stream))};
  const ManagedBuffer& buffer = buffers[0];
  const MemoryLocation on_device = MemoryLocation::device(0);
  buffer.prefetch(on_device, stream);
  EXPECT_EQ(buffer.last_prefetch_location(), on_device);
  buffer.discard(stream);
  buffer.discard_prefetch(MemoryLocation::host(), stream);
  EXPECT_EQ(buffer.last_prefetch_location(), MemoryLocation::host());
  prefetch_batch(buffers, std::array{MemoryLocation::host(), on_device}, stream);
  EXPECT_EQ(buffers[1].last_prefetch_location(), on_device);
  discard_batch(buffers, stream);
  stream.sync();
}

TEST_F(MemoryWork, RefusesWhatIsNotManaged) {
  const ManagedBuffer wrong(pinned(64));
  EXPECT_THROW((void)wrong.read_mostly(), std::invalid_argument);
  EXPECT_THROW(wrong.prefetch(MemoryLocation::host(), stream), std::invalid_argument);
  EXPECT_THROW(prefetch_batch({}, std::array{MemoryLocation::host()}, stream),
               std::invalid_argument);
  const ManagedBuffer right(std::make_shared<ManagedMemoryResource>()->allocate(64, stream));
  EXPECT_THROW(right.prefetch(MemoryLocation::device(99), stream), std::invalid_argument);
  EXPECT_THROW(right.prefetch(MemoryLocation::host_numa(-1), stream), std::invalid_argument);
  EXPECT_THROW(right.set_accessed_by(MemoryLocation::host_numa(0), true), std::invalid_argument);
  EXPECT_THROW(right.discard(Stream::legacy_default()), std::invalid_argument);
  const ManagedBuffer closed{Buffer(nullptr)};
  EXPECT_THROW((void)closed.accessed_by(), std::invalid_argument);
}

TEST_F(MemoryWork, CopiesBatches) {
  const std::array sources{pinned(8), pinned(8)};
  const std::array targets{pinned(8), pinned(8)};
  std::memset(sources[0].host_pointer(), 1, 8);
  std::memset(sources[1].host_pointer(), 2, 8);
  copy_batch(targets, sources, {}, stream);
  const CopyOptions any{.src_access_order = MemcpySrcAccessOrder::any};
  copy_batch(targets, sources, std::array{CopyOptions{}, any}, stream);
  targets[0].copy_from(sources[0], stream, any);
  stream.sync();
  EXPECT_EQ(ints(targets[1]), (std::vector<int>{0x02020202, 0x02020202}));
  EXPECT_THROW(copy_batch({targets.data(), 1}, sources, {}, stream), std::invalid_argument);
  EXPECT_THROW(copy_batch(targets, sources, {}, Stream::legacy_default()), std::invalid_argument);
  const GraphBuilder builder(stream);
  builder.begin_building();
  EXPECT_THROW(copy_batch(targets, sources, {}, stream), std::invalid_argument);
  builder.end_building();
}

TEST_F(MemoryWork, CopiesAndFillsStridedMemory) {
  const Buffer source = pinned(24 * sizeof(int));
  const Buffer target = pinned(24 * sizeof(int));
  for (int i = 0; i < 24; ++i) std::memcpy(source.host_pointer() + 4 * i, &i, sizeof(i));
  // The last two columns of 4 rows of 6, into the first two.
  const StridedMemory to{.buffer = target, .shape = {4, 2}, .strides = {24, 4}};
  StridedMemory from{.buffer = source, .offset = 16, .shape = {4, 2}, .strides = {24, 4}};
  copy_strided(to, from, sizeof(int), stream);
  stream.sync();
  EXPECT_EQ(ints(target)[0], 4);
  EXPECT_EQ(ints(target)[19], 23);
  EXPECT_EQ(ints(target)[2], 0);
  const int value = -5;
  fill_strided(to, std::as_bytes(std::span(&value, 1)), stream);
  stream.sync();
  EXPECT_EQ(ints(target)[6], -5);
  EXPECT_EQ(ints(target)[8], 0);
  from.offset = 20;
  EXPECT_THROW(copy_strided(to, from, sizeof(int), stream), std::invalid_argument);
  from = {.buffer = source, .shape = {4, 2}, .strides = {4, 16}};
  EXPECT_THROW(copy_strided(to, from, sizeof(int), stream), NotSupportedError);
  from.shape = {2, 4};
  EXPECT_THROW(copy_strided(to, from, sizeof(int), stream), std::invalid_argument);
  from = {.buffer = source, .shape = {4}, .strides = {INT64_MAX}};
  EXPECT_THROW(fill_strided(from, std::as_bytes(std::span(&value, 1)), stream),
               std::invalid_argument);
}

TEST_F(MemoryWork, RegistersHostMemory) {
  std::vector<std::byte> memory(64);
  const auto owner = std::make_shared<int>(1);
  {
    const Buffer registered = register_host(memory, {}, owner);
    EXPECT_EQ(registered.host_pointer(), memory.data());
    EXPECT_EQ(owner.use_count(), 2);
    registered.fill(7, 1, stream);
    stream.sync();
    EXPECT_EQ(memory[63], std::byte{7});
    EXPECT_THROW((void)register_host(memory), Error);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(register_host(memory, {.read_only = true}).size(), 64U);
  EXPECT_THROW((void)register_host({}), std::invalid_argument);
}

TEST_F(MemoryWork, WritesAndAwaitsWords) {
  const Buffer words = pinned(16);
  const Stream other = device.create_stream();
  wait_value(other, StreamWord::in(words, 8, 8), 3);
  write_value(other, StreamWord::in(words), 9);
  EXPECT_FALSE(other.is_done());
  write_value(stream, StreamWord::at(words.handle() + 8, 8), 3);
  other.sync();
  EXPECT_EQ(ints(words), (std::vector<int>{9, 0, 3, 0}));
  EXPECT_THROW(write_value(stream, StreamWord::in(words, 0, 2), 1), std::invalid_argument);
  EXPECT_THROW(write_value(stream, StreamWord::in(words, 2), 1), std::invalid_argument);
  EXPECT_THROW(write_value(stream, StreamWord::in(words, 16), 1), std::out_of_range);
  EXPECT_THROW(write_value(stream, StreamWord::in(words), std::uint64_t{1} << 32U),
               std::overflow_error);
  EXPECT_THROW(wait_value(stream, StreamWord::at(0), 1), std::invalid_argument);
  EXPECT_THROW((void)StreamWord::in(Buffer(nullptr)), std::invalid_argument);
}

}  // namespace
}  // namespace cudacore
