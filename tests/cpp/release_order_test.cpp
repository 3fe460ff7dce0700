// SPDX-License-Identifier: Apache-2.0
//
// What the release of memory waits for: that of shared memory, and that of cached memory.
#include <gtest/gtest.h>

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

#include "cudacore/caching_memory_resource.hpp"
#include "cudacore/device_memory_resource.hpp"
#include "cudacore/error.hpp"
#include "driver/process.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"
#include "owner/captures.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/size_class.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;

class ReleaseOrder : public testing::ReportsTest {
 protected:
  void SetUp() override {
    testing::ReportsTest::SetUp();
    owner::captures_possible = false;
    fake.captured = nullptr;
    upstream = std::make_shared<DeviceMemoryResource>(device, DeviceMemoryResourceOptions{});
    cache = std::make_shared<CachingMemoryResource>(upstream);
  }
  void TearDown() override {
    cache.reset();
    upstream.reset();
    EXPECT_EQ(fake.live(), 0);
    EXPECT_EQ(fake.misuses(), 0);
    ReportsTest::TearDown();
  }

  [[nodiscard]] int waits() const { return fake.count("cuStreamWaitEvent"); }

  FakeDriver& fake = FakeDriver::fresh();
  Device device{0};
  std::shared_ptr<DeviceMemoryResource> upstream;
  std::shared_ptr<CachingMemoryResource> cache;
};

TEST_F(ReleaseOrder, WaitsForTheStreamsOfAllParts) {
  const Stream one = device.create_stream();
  const Stream two = device.create_stream();
  const Stream three = device.create_stream();
  for (MemoryResource* resource :
       {static_cast<MemoryResource*>(upstream.get()), static_cast<MemoryResource*>(cache.get())}) {
    Buffer whole = resource->allocate(mebibyte, one);
    Buffer left = whole.slice(0, mebibyte / 2);
    Buffer right = whole.slice(mebibyte / 2, mebibyte / 2);
    whole.close();
    left.close(two);
    fake.forget_calls();
    right.close(three);
    EXPECT_EQ(fake.count("cuEventRecord"), 2);
    EXPECT_EQ(waits(), 2);
  }
  EXPECT_EQ(fake.free_streams, std::vector<CUstream>{three.box()->stream});
  EXPECT_TRUE(cache->try_allocate(mebibyte, three).has_value());
}

TEST_F(ReleaseOrder, WaitsForTheStreamOfTheAllocation) {
  const Stream one = device.create_stream();
  const Stream two = device.create_stream();
  Buffer whole = cache->allocate(mebibyte, one);
  Buffer part = whole.slice(0, 100);
  whole.close();
  part.close(two);
  EXPECT_EQ(waits(), 1);
  whole = cache->allocate(mebibyte, one);
  part = whole.slice(0, 100);
  part.close();  // on the stream of the allocation
  whole.close(two);
  EXPECT_EQ(waits(), 2);
  whole = cache->allocate(mebibyte, one);
  whole.close(two);  // whoever shares it with nobody knows that it may
  EXPECT_EQ(waits(), 2);
}

TEST_F(ReleaseOrder, WaitsForTheStreamsOfCopies) {
  const Stream one = device.create_stream();
  const Stream two = device.create_stream();
  Buffer buffer = cache->allocate(mebibyte, one);
  Buffer copy = buffer;
  copy.close(two);
  EXPECT_EQ(waits(), 0);
  buffer.close();
  EXPECT_EQ(waits(), 1);
}

TEST_F(ReleaseOrder, NeedsNoCallOnOneStream) {
  const Stream stream = device.create_stream();
  cache->allocate(mebibyte, stream).close();
  fake.forget_calls();
  Buffer whole = *cache->try_allocate(mebibyte, stream);
  Buffer part = whole.slice(0, 100);
  part.close(stream);
  whole.close(stream);
  EXPECT_TRUE(fake.calls().empty());
}

TEST_F(ReleaseOrder, ACapturedStreamIsWaitedForAfterItsCapture) {
  const Stream one = device.create_stream();
  const Stream two = device.create_stream();
  Buffer whole = cache->allocate(mebibyte, one);
  const CUdeviceptr address = whole.handle();
  Buffer part = whole.slice(0, 100);
  whole.close();
  owner::captures_possible = true;
  fake.captured = one.box()->stream;
  part.close(two);
  EXPECT_EQ(waits() + fake.count("cuEventRecord"), 0);
  EXPECT_NE(cache->allocate(mebibyte, two).handle(), address);
  fake.captured = nullptr;
  while (waits() == 0) std::this_thread::yield();
  do {
    cache->trim();
  } while (cache->statistics().reserved_bytes != 0);
  EXPECT_TRUE(testing::reports().empty());
}

TEST_F(ReleaseOrder, ManyStreamsAreForgottenOnceTheirWorkIsDone) {
  const Stream stream = device.create_stream();
  Buffer whole = cache->allocate(mebibyte, stream);
  for (int i = 0; i < 100; ++i) whole.slice(0, 100).close(device.create_stream());
  EXPECT_LE(fake.live("stream"), 20);
  fake.forget_calls();
  whole.close(stream);
  EXPECT_GE(waits(), 1);
}

TEST_F(ReleaseOrder, EndedStreamsLeaveLittleBehind) {
  cache->allocate(mebibyte, device.create_stream()).close();
  const Stream other = device.create_stream();
  cache->allocate(100, other).close();  // the rest is idle now
  for (int i = 0; i < 1000; ++i) cache->allocate(100, device.create_stream()).close();
  EXPECT_LE(fake.live("event"), 200);
  EXPECT_EQ(fake.count("cuMemAllocFromPoolAsync"), 1);
}

class Asks : public owner::StreamFollower {
 public:
  explicit Asks(std::function<void()> asked) : asked_(std::move(asked)) {}
  void stream_ends(const std::shared_ptr<owner::StreamBox>& /*stream*/) noexcept override {
    asked_();
  }

 private:
  std::function<void()> asked_;
};

TEST_F(ReleaseOrder, AnEventOfEarlierWorkIsNotBelieved) {
  std::optional<Stream> one = device.create_stream();
  const Stream other = device.create_stream();
  CUdeviceptr address = 0;
  CUdeviceptr reused = 0;
  const auto asks =
      std::make_shared<Asks>([&] { reused = cache->allocate(mebibyte, other).handle(); });
  one->box()->add_follower(asks);  // told before the cache is
  cache->allocate(mebibyte, Stream::from_handle(one->handle())).close();  // records an event
  Buffer buffer = cache->allocate(mebibyte, *one);
  address = buffer.handle();
  buffer.close();  // records none
  one.reset();
  EXPECT_NE(reused, 0U);
  EXPECT_NE(reused, address);
}

TEST_F(ReleaseOrder, IdleMemoryGoesBackOnAStreamThatNoCaptureKnows) {
  cache->allocate(mebibyte, device.create_stream()).close();
  cache->trim();
  cache->allocate(mebibyte, device.create_stream()).close();
  cache->close();
  ASSERT_EQ(fake.free_streams.size(), 2U);
  for (const CUstream stream : fake.free_streams) EXPECT_NE(stream, CU_STREAM_LEGACY);
}

TEST_F(ReleaseOrder, ATrimThatFailsForgetsNothing) {
  cache->allocate(mebibyte, device.create_stream()).close();
  fake.fail_function("cuStreamCreateWithPriority", CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(cache->trim(), Error);
  EXPECT_EQ(cache->statistics().num_segments, 1U);
  fake.clear_faults();
  cache->trim();
  EXPECT_EQ(cache->statistics().num_segments, 0U);
}

TEST_F(ReleaseOrder, ACaptureIsLeftAlone) {
  cache = std::make_shared<CachingMemoryResource>(upstream, page);
  const Stream captured = device.create_stream();
  const Stream other = device.create_stream();
  Buffer buffer = cache->allocate(mebibyte, other);
  const Buffer kept = cache->allocate(mebibyte, other);
  owner::captures_possible = true;
  fake.captured = captured.box()->stream;
  ++owner::captures;
  EXPECT_THROW(buffer.close(Stream::from_handle(captured.handle())), NotSupportedError);
  EXPECT_NE(buffer.handle(), 0U);
  buffer.close(captured);
  EXPECT_TRUE(testing::reports().empty());
  fake.forget_calls();
  cache->trim();
  EXPECT_THROW(static_cast<void>(cache->allocate(mebibyte, other)), OutOfMemoryError);
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 0);
  --owner::captures;
  fake.captured = nullptr;
  EXPECT_NO_THROW(static_cast<void>(cache->allocate(mebibyte, other)));
}

std::function<void()>& while_waiting() {
  static std::function<void()> function;
  return function;
}

TEST_F(ReleaseOrder, WhatIsFreedDuringAWaitIsFound) {
  cache = std::make_shared<CachingMemoryResource>(upstream, 2 * page);
  const Stream busy = device.create_stream();
  const Stream idle = device.create_stream();
  std::vector<Buffer> freed;
  for (int i = 0; i < 2; ++i) freed.push_back(cache->allocate(mebibyte, idle));
  const Buffer large = cache->allocate(mebibyte, busy);
  const Buffer small = cache->allocate(200 * kibibyte, busy);
  cache->allocate(700 * kibibyte, busy).close();
  while_waiting() = [&freed] { freed.clear(); };
  driver::DriverApi& table = fake.table();
  const auto wait = table.cuEventSynchronize;
  table.cuEventSynchronize = [](CUevent) {
    while_waiting()();
    return CUDA_SUCCESS;
  };
  EXPECT_NO_THROW(static_cast<void>(cache->allocate(mebibyte, device.create_stream())));
  table.cuEventSynchronize = wait;
  while_waiting() = nullptr;
  EXPECT_TRUE(freed.empty());
  EXPECT_EQ(fake.count("cuMemAllocFromPoolAsync"), 2);
}

int& times_taken() {
  static int count = 0;
  return count;
}

TEST_F(ReleaseOrder, AForkedChildTakesNothingBack) {
  static constexpr owner::ResourceCalls calls{
      [](MemoryResource& /*from*/, const owner::Allocation& /*memory*/,
         std::shared_ptr<owner::StreamBox> /*stream*/) { ++times_taken(); },
      [](const MemoryResource& /*from*/) noexcept { return false; },
      [](owner::BufferBox& /*box*/) noexcept {
        ++times_taken();
        return true;
      }};
  auto box = std::make_shared<owner::BufferBox>();
  box->pointer = 0x1000;
  box->size = 1;
  box->resource = upstream;
  box->calls = &calls;
  driver::watch_process();
  const pid_t child = fork();
  if (child == 0) _exit(box->release_at_once() ? times_taken() : 10);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(box->release_at_once());
  EXPECT_EQ(times_taken(), 1);
}

}  // namespace
}  // namespace cudacore
