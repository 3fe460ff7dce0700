// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "cudacore/caching_memory_resource.hpp"
#include "cudacore/device_memory_resource.hpp"
#include "cudacore/error.hpp"
#include "error/context_box.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"
#include "messages.hpp"
#include "owner/callback.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/size_class.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;

class CachingPoolTest : public testing::ReportsTest {
 protected:
  void SetUp() override {
    testing::ReportsTest::SetUp();
    owner::captures_possible = false;
    fake.captured = nullptr;
    upstream = std::make_shared<DeviceMemoryResource>(device, DeviceMemoryResourceOptions{});
    pool = std::make_shared<CachingMemoryResource>(upstream);
  }
  void TearDown() override {
    pool.reset();
    upstream.reset();
    EXPECT_EQ(fake.live(), 0);
    EXPECT_EQ(fake.misuses(), 0);
    ReportsTest::TearDown();
  }

  /// Leaves a stream with the only segment, of a pool that may have no more.
  void fill_pool(const Stream& stream) {
    pool = std::make_shared<CachingMemoryResource>(upstream, page);
    Buffer half = pool->allocate(mebibyte, stream);
    const Buffer other_half = pool->allocate(mebibyte, stream);
  }
  Buffer allocate(std::size_t size, const Stream& stream) { return pool->allocate(size, stream); }
  [[nodiscard]] int grown() const { return fake.count("cuMemAllocFromPoolAsync"); }

  FakeDriver& fake = FakeDriver::fresh();
  Device device{0};
  std::shared_ptr<MemoryResource> upstream;
  std::shared_ptr<CachingMemoryResource> pool;
};

TEST(SizeClasses, RoundUpLittle) {
  for (std::size_t size = 1; size < 64 * mebibyte; size += 1 + size / 97) {
    const BlockSize rounded = block_size(size);
    ASSERT_GE(rounded.bytes, size);
    ASSERT_EQ(rounded.bytes % rules_of(rounded.kind).unit, 0U);
    ASSERT_EQ(block_size(rounded.bytes).bytes, rounded.bytes);
    if (rounded.kind != SizeClass::large && size > 16 * kibibyte) {
      ASSERT_LE(rounded.bytes - size, size / 32 + rules_of(rounded.kind).unit);
    }
  }
  EXPECT_EQ(block_size(mebibyte).bytes, mebibyte);
  EXPECT_EQ(block_size(mebibyte).kind, SizeClass::small);
  EXPECT_EQ(block_size(10 * mebibyte).kind, SizeClass::large);
}

TEST_F(CachingPoolTest, AHitCallsNoDriver) {
  const Stream stream = device.create_stream();
  Buffer first = allocate(mebibyte, stream);
  const CUdeviceptr address = first.handle();
  first.close();
  fake.forget_calls();
  std::optional<Buffer> second = pool->try_allocate(mebibyte, stream);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->handle(), address);
  EXPECT_EQ(second->size(), mebibyte);
  second->close();
  second.reset();
  EXPECT_TRUE(fake.calls().empty());
}

TEST_F(CachingPoolTest, AMissIsNoHit) {
  const Stream stream = device.create_stream();
  EXPECT_FALSE(pool->try_allocate(1, stream).has_value());
  EXPECT_FALSE(pool->try_allocate(0, stream).has_value());
  EXPECT_EQ(grown(), 0);
}

TEST_F(CachingPoolTest, SegmentsAreCutAndJoined) {
  const Stream stream = device.create_stream();
  std::vector<Buffer> buffers;
  for (int i = 0; i < 4096; ++i) buffers.push_back(allocate(100, stream));
  EXPECT_EQ(grown(), 1);
  for (std::size_t i = 1; i < buffers.size(); ++i) {
    ASSERT_EQ(buffers[i].handle() % 16, 0U);
    ASSERT_EQ(buffers[i].handle() - buffers[i - 1].handle(), 512U);
  }
  EXPECT_EQ(pool->statistics().num_free_blocks, 0U);
  for (std::size_t i = 0; i < buffers.size(); i += 2) buffers[i].close();
  EXPECT_EQ(pool->statistics().num_free_blocks, 2048U);
  for (std::size_t i = 1; i < buffers.size(); i += 2) buffers[i].close();
  const CachingStatistics after = pool->statistics();
  EXPECT_EQ(after.num_free_blocks, 1U);
  EXPECT_EQ(after.free_bytes, page);
  EXPECT_EQ(after.current_count, 0U);
  EXPECT_EQ(after.peak_bytes, 409600U);
  EXPECT_EQ(after.peak_count, 4096U);
  EXPECT_EQ(after.total_count, 4096U);
}

TEST_F(CachingPoolTest, EachClassHasItsOwnSegments) {
  const Stream stream = device.create_stream();
  allocate(64 * mebibyte, stream).close();
  const Buffer small = allocate(4096, stream);
  const Buffer medium = allocate(3 * mebibyte, stream);
  EXPECT_EQ(grown(), 3);  // neither was cut from the large block
  const Buffer large = allocate(20 * mebibyte, stream);
  EXPECT_EQ(grown(), 3);
  EXPECT_EQ(pool->snapshot().size(), 3U);
}

TEST_F(CachingPoolTest, SmallRestsStayWithALargeBlock) {
  const Stream stream = device.create_stream();
  allocate(20 * mebibyte, stream).close();
  const Buffer large = allocate(16 * mebibyte, stream);
  EXPECT_EQ(pool->statistics().num_free_blocks, 0U);
  EXPECT_EQ(pool->statistics().used_bytes, 20 * mebibyte);
}

TEST_F(CachingPoolTest, AnotherStreamGetsWhatIsDone) {
  const Stream one = device.create_stream();
  const Stream other = device.create_stream();
  allocate(mebibyte, one).close();
  const Buffer buffer = allocate(mebibyte, other);
  EXPECT_EQ(grown(), 1);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 0);
}

TEST_F(CachingPoolTest, AnotherStreamGetsNewMemoryWhileThereIsSome) {
  const Stream one = device.create_stream();
  const Stream other = device.create_stream();
  allocate(mebibyte, one).close();
  fake.queries_until_ready = 1000;
  const Buffer buffer = allocate(mebibyte, other);
  EXPECT_EQ(grown(), 2);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 0);
}

TEST_F(CachingPoolTest, AnotherStreamWaitsIfThereIsNoOtherMemory) {
  pool = std::make_shared<CachingMemoryResource>(upstream, page);
  const Stream one = device.create_stream();
  const Stream other = device.create_stream();
  Buffer first = allocate(mebibyte, one);
  const CUdeviceptr address = first.handle();
  first.close();
  fake.queries_until_ready = 1000;
  fake.forget_calls();
  const Buffer buffer = allocate(mebibyte, other);
  EXPECT_EQ(buffer.handle(), address);
  EXPECT_EQ(fake.count("cuEventRecord"), 1);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 1);
  EXPECT_EQ(pool->statistics().num_stream_waits, 1U);
  EXPECT_EQ(pool->statistics().num_alloc_retries, 0U);
}

TEST_F(CachingPoolTest, AStreamThatEndsLeavesItsBlocksBehindAnEvent) {
  Stream one = device.create_stream();
  const Stream other = device.create_stream();
  fill_pool(one);
  fake.forget_calls();
  one.close();
  std::vector<std::string> calls = fake.calls();
  std::erase_if(calls, [](const std::string& call) {
    return call != "cuEventRecord" && call != "cuStreamDestroy";
  });
  EXPECT_EQ(calls, (std::vector<std::string>{"cuEventRecord", "cuStreamDestroy"}));
  fake.queries_until_ready = 1000;
  const Buffer buffer = allocate(mebibyte, other);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 1);
}

TEST_F(CachingPoolTest, WhatAnEndedStreamHadIsFreeOnceItsEventIsReached) {
  Stream one = device.create_stream();
  const Stream other = device.create_stream();
  allocate(mebibyte, one).close();
  one.close();
  const Buffer buffer = allocate(mebibyte, other);
  EXPECT_EQ(grown(), 1);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 0);
}

TEST_F(CachingPoolTest, ThePoolKeepsNoStreamAlive) {
  std::optional<Stream> stream = device.create_stream();
  allocate(mebibyte, *stream).close();
  stream.reset();
  EXPECT_EQ(fake.live("stream"), 0);
}

TEST_F(CachingPoolTest, ABorrowedStreamIsRecordedAtEachFree) {
  const Stream owned = device.create_stream();
  const Stream borrowed = Stream::from_handle(device.create_stream().handle());
  Buffer buffer = allocate(mebibyte, borrowed);
  fake.forget_calls();
  buffer.close();
  EXPECT_EQ(fake.count("cuEventRecord"), 1);
  fake.forget_calls();
  const Buffer again = allocate(mebibyte, borrowed);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 0);
  EXPECT_EQ(grown(), 0);
}

TEST_F(CachingPoolTest, TwoViewsOfAStreamShareItsBlocks) {
  const Stream owned = device.create_stream();
  Buffer buffer = allocate(mebibyte, owned);
  const CUdeviceptr address = buffer.handle();
  buffer.close();
  fake.queries_until_ready = 1000;
  const Buffer again = allocate(mebibyte, Stream::from_handle(owned.handle()));
  EXPECT_EQ(again.handle(), address);
}

TEST_F(CachingPoolTest, PerThreadStreamsWaitForTheLegacyStream) {
  const Stream stream = Stream::per_thread_default();
  Buffer buffer = allocate(mebibyte, stream);
  const CUdeviceptr address = buffer.handle();
  buffer.close();
  fake.queries_until_ready = 1000;
  fake.forget_calls();
  const Buffer again = allocate(mebibyte, stream);
  EXPECT_EQ(again.handle(), address);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 1);
}

TEST_F(CachingPoolTest, MemoryIsFreedOnTheStreamThatIsGiven) {
  pool = std::make_shared<CachingMemoryResource>(upstream, page);
  const Stream one = device.create_stream();
  const Stream other = device.create_stream();
  const Buffer half = allocate(mebibyte, one);
  Buffer buffer = allocate(mebibyte, one);
  buffer.close(other);
  EXPECT_FALSE(pool->try_allocate(mebibyte, one).has_value());
  EXPECT_TRUE(pool->try_allocate(mebibyte, other).has_value());
}

TEST_F(CachingPoolTest, ACallbackMayFree) {
  const Stream stream = device.create_stream();
  Buffer buffer = allocate(mebibyte, stream);
  fake.forget_calls();
  {
    const owner::CallbackScope scope;
    buffer.close();
  }
  EXPECT_TRUE(fake.calls().empty());
  EXPECT_EQ(pool->statistics().current_count, 0U);
}

TEST_F(CachingPoolTest, WithoutMemoryTheCacheGoesBackFirst) {
  const Stream stream = device.create_stream();
  allocate(mebibyte, stream).close();
  allocate(64 * mebibyte, stream).close();
  fake.fail_function("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
  const std::string message = testing::message_of<OutOfMemoryError>(
      [&] { static_cast<void>(allocate(3 * mebibyte, stream)); });
  EXPECT_NE(message.find("cannot allocate 3 MiB: 0 buffers have 0 bytes"), std::string::npos)
      << message;
  EXPECT_NE(message.find("cuMemAllocFromPoolAsync"), std::string::npos) << message;
  fake.clear_faults();
  const CachingStatistics after = pool->statistics();
  EXPECT_EQ(after.num_segments, 0U);
  EXPECT_EQ(after.reserved_bytes, 0U);
  EXPECT_EQ(after.num_ooms, 1U);
  EXPECT_EQ(after.num_alloc_retries, 1U);
  EXPECT_EQ(fake.live("pool memory"), 0);
  const Buffer works_again = allocate(3 * mebibyte, stream);
}

TEST_F(CachingPoolTest, BlocksOfSeveralStreamsAreJoinedBeforeMemoryIsShort) {
  pool = std::make_shared<CachingMemoryResource>(upstream, page);
  std::vector<Stream> streams;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 4; ++i) {
    streams.push_back(device.create_stream());
    buffers.push_back(allocate(512 * kibibyte, streams.front()));
  }
  for (std::size_t i = 0; i < 4; ++i) buffers[i].close(streams[i]);
  EXPECT_EQ(pool->statistics().num_free_blocks, 4U);
  const Buffer whole = allocate(mebibyte, streams.front());
  EXPECT_EQ(grown(), 1);
  EXPECT_EQ(pool->statistics().num_alloc_retries, 1U);
}

TEST_F(CachingPoolTest, TheLimitHolds) {
  pool = std::make_shared<CachingMemoryResource>(upstream, 3 * mebibyte);
  const Stream stream = device.create_stream();
  const Buffer first = allocate(mebibyte, stream);
  const Buffer second = allocate(mebibyte, stream);
  const Buffer third = allocate(mebibyte, stream);  // from a segment as small as the limit asks for
  const std::string message =
      testing::message_of<OutOfMemoryError>([&] { static_cast<void>(allocate(512, stream)); });
  EXPECT_NE(message.find("max_size is 3 MiB"), std::string::npos) << message;
  EXPECT_EQ(pool->statistics().reserved_bytes, 3 * mebibyte);
  EXPECT_THROW(static_cast<void>(allocate(~std::size_t{0}, stream)), OutOfMemoryError);
}

TEST_F(CachingPoolTest, ACaptureIsRefused) {
  const Stream stream = device.create_stream();
  allocate(mebibyte, stream).close();
  owner::captures_possible = true;
  fake.captured = stream.box()->stream;
  EXPECT_FALSE(pool->try_allocate(mebibyte, stream).has_value());
  const std::string message = testing::message_of<NotSupportedError>(
      [&] { static_cast<void>(allocate(mebibyte, stream)); });
  EXPECT_NE(message.find("is being captured"), std::string::npos) << message;
  fake.captured = nullptr;
  EXPECT_TRUE(pool->try_allocate(mebibyte, stream).has_value());
}

TEST_F(CachingPoolTest, NobodyWaitsForAStreamThatIsCaptured) {
  const Stream captured = device.create_stream();
  const Stream other = device.create_stream();
  fill_pool(captured);
  owner::captures_possible = true;
  fake.captured = captured.box()->stream;
  fake.forget_calls();
  EXPECT_THROW(static_cast<void>(allocate(mebibyte, other)), OutOfMemoryError);
  EXPECT_EQ(fake.count("cuEventRecord") + fake.count("cuStreamQuery"), 0);
  fake.captured = nullptr;
}

TEST_F(CachingPoolTest, TheLegacyStreamIsLeftAloneWhileOneItWaitsForIsCaptured) {
  const Stream legacy = device.default_stream();
  const Stream other = device.create_stream();
  fill_pool(legacy);
  owner::captures_possible = true;
  fake.captured = device.create_stream().box()->stream;
  fake.forget_calls();
  EXPECT_TRUE(pool->try_allocate(mebibyte, legacy).has_value());
  EXPECT_THROW(static_cast<void>(allocate(mebibyte, other)), OutOfMemoryError);
  const std::string message = testing::message_of<NotSupportedError>(
      [&] { static_cast<void>(allocate(4 * mebibyte, legacy)); });
  EXPECT_NE(message.find("waits for a stream that is being captured"), std::string::npos)
      << message;
  EXPECT_EQ(fake.count("cuEventRecord") + fake.count("cuStreamQuery"), 0);
  fake.captured = nullptr;
}

TEST_F(CachingPoolTest, AFreeAfterAnEarlyDeallocateDoesNothing) {
  const Stream stream = device.create_stream();
  Buffer buffer = allocate(mebibyte, stream);
  pool->deallocate(buffer.handle(), buffer.size(), stream);
  EXPECT_EQ(pool->statistics().current_count, 0U);
  EXPECT_THROW(pool->deallocate(buffer.handle(), buffer.size(), stream), std::invalid_argument);
  const Buffer next = allocate(mebibyte, stream);
  EXPECT_EQ(next.handle(), buffer.handle());
  buffer.close();
  EXPECT_EQ(pool->statistics().current_count, 1U);
  EXPECT_THROW(pool->deallocate(0x10, 1, stream), std::invalid_argument);
}

TEST_F(CachingPoolTest, ABufferKeepsThePool) {
  const Stream stream = device.create_stream();
  std::optional<Buffer> buffer = allocate(mebibyte, stream);
  pool.reset();
  EXPECT_EQ(fake.live("pool memory"), 1);
  buffer.reset();
  EXPECT_EQ(fake.live("pool memory"), 0);
  EXPECT_EQ(fake.free_streams, std::vector<CUstream>{stream.box()->stream});
}

TEST_F(CachingPoolTest, AClosedPoolTakesItsBuffersBack) {
  const Stream stream = device.create_stream();
  Buffer kept = allocate(64 * mebibyte, stream);
  allocate(mebibyte, stream).close();
  pool->close();
  EXPECT_TRUE(pool->is_closed());
  EXPECT_EQ(fake.live("pool memory"), 1);
  EXPECT_THROW(static_cast<void>(allocate(1, stream)), std::invalid_argument);
  EXPECT_FALSE(pool->try_allocate(1, stream).has_value());
  kept.fill(1, 1, stream);
  kept.close();
  EXPECT_EQ(fake.live("pool memory"), 0);
}

TEST_F(CachingPoolTest, TrimKeepsWhatItIsTold) {
  const Stream stream = device.create_stream();
  allocate(64 * mebibyte, stream).close();
  const Buffer used = allocate(mebibyte, stream);
  pool->trim(100 * mebibyte);
  EXPECT_EQ(pool->statistics().reserved_bytes, 66 * mebibyte);
  pool->trim();
  EXPECT_EQ(pool->statistics().reserved_bytes, 2 * mebibyte);
  EXPECT_EQ(pool->statistics().num_device_free, 1U);
}

TEST_F(CachingPoolTest, AResetLeavesNothing) {
  const Stream stream = device.create_stream();
  Buffer stale = allocate(mebibyte, stream);
  const Buffer also_stale = allocate(64 * mebibyte, stream);
  error::forget_contexts("a reset");
  fake.end_contexts();
  for (const Buffer& gone : {stale, also_stale})
    fake.table().cuMemFreeAsync(gone.handle(), nullptr);
  const Stream next = device.create_stream();
  upstream = std::make_shared<DeviceMemoryResource>(device, DeviceMemoryResourceOptions{});
  const Buffer fresh = allocate(mebibyte, next);
  EXPECT_EQ(pool->statistics().num_segments, 1U);
  EXPECT_EQ(pool->statistics().current_count, 1U);
  stale.close();
  EXPECT_EQ(pool->statistics().current_count, 1U);
}

TEST_F(CachingPoolTest, ZeroBytesNeedNoMemory) {
  const Stream stream = device.create_stream();
  Buffer nothing = allocate(0, stream);
  EXPECT_EQ(nothing.handle(), 0U);
  EXPECT_EQ(nothing.size(), 0U);
  nothing.close();
  EXPECT_EQ(grown(), 0);
}

TEST_F(CachingPoolTest, NoFailureLosesMemory) {
  for (int k = 1; k < 200; ++k) {
    {
      auto own = std::make_shared<CachingMemoryResource>(upstream, 4 * mebibyte);
      fake.fail_call(k, CUDA_ERROR_INVALID_VALUE);
      try {
        Stream one = device.create_stream();
        const Stream other = device.create_stream();
        Buffer first = own->allocate(mebibyte, one);
        Buffer second = own->allocate(mebibyte, one);
        first.close(other);
        const Buffer third = own->allocate(mebibyte, Stream::from_handle(other.handle()));
        second.close();
        one.close();
        const Buffer fourth = own->allocate(1536 * kibibyte, other);
        own->trim();
      } catch (const std::exception&) {
      }
      const bool fired = fake.fired();
      fake.clear_faults();
      own.reset();
      if (!fired) break;
    }
    ASSERT_EQ(fake.live("pool memory"), 0) << "failure " << k << " in " << fake.fired_function();
    ASSERT_EQ(fake.live("stream"), 0);
    ASSERT_LT(k, 199);
  }
  static_cast<void>(testing::reports());
}

TEST_F(CachingPoolTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const Stream stream = device.create_stream();
      std::vector<Buffer> kept;
      for (unsigned n = 0; n < 2000; ++n) {
        Buffer buffer = allocate(1 + (n * 7919 + i * 104729) % (3 * mebibyte), stream);
        *reinterpret_cast<unsigned*>(static_cast<std::uintptr_t>(buffer.handle())) = i;
        if (n % 3 == 0) kept.push_back(buffer);
        if (kept.size() > 20) {
          Buffer oldest = kept.front();
          kept.erase(kept.begin());
          ASSERT_EQ(*reinterpret_cast<unsigned*>(static_cast<std::uintptr_t>(oldest.handle())), i);
        }
        if (n % 500 == 0) pool->trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().current_count, 0U);
  pool->trim();
  EXPECT_EQ(pool->statistics().reserved_bytes, 0U);
}

}  // namespace
}  // namespace cudacore
