// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cudacore/device.hpp"
#include "cudacore/device_memory_resource.hpp"
#include "cudacore/device_resources.hpp"
#include "cudacore/error.hpp"
#include "cudacore/launch.hpp"
#include "cudacore/legacy_pinned_memory_resource.hpp"
#include "cudacore/managed_memory_resource.hpp"
#include "cudacore/memory_resource.hpp"
#include "cudacore/pinned_memory_resource.hpp"
#include "cudacore/pool_memory_resource.hpp"
#include "cudacore/stream_attributes.hpp"
#include "cudacore/system.hpp"
#include "error/unraisable.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/library_loading.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;
using testing::FakeKernel;
using testing::reports;

class Ownership : public testing::ReportsTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(fake.live(), 0);
    EXPECT_EQ(fake.misuses(), 0);
    ReportsTest::TearDown();
  }

  FakeDriver& fake = FakeDriver::fresh();
  Device device{0};
};

struct Operation {
  const char* name;
  std::function<void()> run;
};

void use_buffer(MemoryResource& resource, const std::optional<Stream>& stream) {
  Buffer buffer = resource.allocate(256, stream);
  buffer.fill(1, 1, stream.value_or(Stream::legacy_default()));
  const Buffer copy = buffer;
  buffer.close();
}

std::vector<Operation> operations() {
  static FakeKernel kernel{.symbol = "_Z3fooi", .parameter_sizes = {4}};
  const auto device = [] { return Device(0); };
  return {
      {"stream",
       [=] {
         const Stream stream(device().context(), {.priority = -1});
         stream.sync();
       }},
      {"stream of the current context", [] { const Stream stream; }},
      {"event", [=] { const Event event(device().context(), {.timing_enabled = true}); }},
      {"recorded event",
       [=] {
         const Stream stream = device().create_stream();
         const Event event = stream.record();
         stream.wait(event);
         event.sync();
       }},
      {"stream that waits for another",
       [=] { device().create_stream().wait(device().create_stream()); }},
      {"callback", [=] { device().create_stream().add_callback([] {}); }},
      {"buffer of the default pool",
       [=] {
         const Stream stream = device().create_stream();
         use_buffer(*device().memory_resource(), stream);
       }},
      {"buffer of a pool of its own",
       [=] {
         const auto pool = std::make_shared<DeviceMemoryResource>(
             device(), DeviceMemoryResourceOptions{.max_size = 4096});
         use_buffer(*pool, device().create_stream());
       }},
      {"pinned pool",
       [] {
         const auto pool = std::make_shared<PinnedMemoryResource>();
         use_buffer(*pool, std::nullopt);
       }},
      {"pinned pool of a NUMA node",
       [] {
         const auto pool =
             std::make_shared<PinnedMemoryResource>(PinnedMemoryResourceOptions{.numa_id = 0});
         use_buffer(*pool, std::nullopt);
       }},
      {"managed pool",
       [] {
         const auto pool = std::make_shared<ManagedMemoryResource>(ManagedMemoryResourceOptions{
             .preferred_location = 0, .preferred_location_type = ManagedLocation::device});
         use_buffer(*pool, Stream::legacy_default());
       }},
      {"green context",
       [=] {
         const std::vector<SMGroup> groups(1);
         const DeviceResources resources(device());
         const SMResource::Split parts = resources.sm().split(groups);
         const Context context = create_context(device(), {.resources = {parts.groups[0]}});
         const Stream stream(context, {.priority = -1});
         const Event event = stream.record();
         (void)DeviceResources(stream).sm();
         (void)DeviceResources(context).sm();
       }},
      {"limits and attributes",
       [=] {
         const Context context = device().context();
         context.set_limit(ContextLimit::stack_size, context.limit(ContextLimit::stack_size));
         context.reset_persisting_l2_cache();
         const StreamAttributes attributes(device().create_stream());
         attributes.set_access_policy_window(attributes.access_policy_window());
         attributes.set_sync_policy(attributes.sync_policy());
         attributes.set_mem_sync_domain(attributes.mem_sync_domain());
         attributes.copy_from(device().create_stream());
       }},
      {"legacy pinned memory",
       [=] {
         const auto resource = std::make_shared<LegacyPinnedMemoryResource>();
         use_buffer(*resource, device().create_stream());
       }},
      {"memory of a device without pools",
       [] {
         const Device plain(1);
         use_buffer(*plain.memory_resource(), plain.create_stream());
       }},
      {"library",
       [] {
         const std::vector<std::byte> code(16, std::byte{'/'});
         const auto library = load_library(code, CodeType::ptx, "test", {});
       }},
      {"kernel",
       [=] {
         const Kernel foo = Kernel::from_handle(reinterpret_cast<CUkernel>(&kernel));
         const Stream stream = device().create_stream();
         launch(stream, {.shmem_size = 100000}, foo, 3);
         kernel.dynamic_shmem = 48 * 1024;
       }},
  };
}

/// Fails the first call of the operation, then the second, and so on, until no call is left to
/// fail.
void fail_everywhere(const Operation& operation, CUresult code, bool sticky) {
  for (int k = 1;; ++k) {
    ASSERT_LT(k, 500) << operation.name << " never ends";
    FakeDriver& fake = FakeDriver::fresh();
    fake.fail_call(k, code, sticky);
    bool threw = false;
    try {
      operation.run();
    } catch (const Error& error) {
      threw = true;
      EXPECT_EQ(error.code(), static_cast<int>(code)) << operation.name << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(error.function() + " failed"), std::string::npos);
    } catch (const TypeMismatchError& error) {
      // For this function, the code means that there are no more parameters.
      threw = true;
      EXPECT_EQ(fake.fired_function(), "cuKernelGetParamInfo") << error.what();
    }
    const bool fired = fake.fired();
    const std::string where = std::string(operation.name) + ", call " + std::to_string(k) + " (" +
                              fake.fired_function() + ")";
    EXPECT_EQ(fake.live(), 0) << where;
    EXPECT_EQ(fake.misuses(), 0) << where;
    fake.clear_faults();
    if (!fired) {
      EXPECT_FALSE(threw) << where;
      return;
    }
  }
}

class FailEverywhere : public ::testing::TestWithParam<CUresult> {
 protected:
  void SetUp() override {
    system::set_log_hook([](const char*) {});
  }
  void TearDown() override {
    FakeDriver::fresh();
    system::set_log_hook(nullptr);
  }
};

void fail_all(CUresult code) {
  for (const Operation& operation : operations()) {
    // Attributes are read now and cached: for them, CUDA_ERROR_INVALID_VALUE means "unknown to this
    // driver".
    FakeDriver::fresh();
    operation.run();
    fail_everywhere(operation, code, false);
    fail_everywhere(operation, code, true);
  }
}

TEST_P(FailEverywhere, NothingLeaks) { fail_all(GetParam()); }

TEST_P(FailEverywhere, NothingLeaksWhereOthersMayCapture) {
  owner::captures_possible = true;
  fail_all(GetParam());
  owner::captures_possible = false;
}

INSTANTIATE_TEST_SUITE_P(Codes, FailEverywhere,
                         ::testing::Values(CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_SUPPORTED,
                                           CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_DEINITIALIZED));

std::ptrdiff_t position(const std::vector<std::string>& calls, const std::string& call) {
  const auto found = std::find(calls.begin(), calls.end(), call);
  EXPECT_NE(found, calls.end()) << call;
  return found - calls.begin();
}

TEST_F(Ownership, MemoryGoesBackBeforeItsPoolAndStream) {
  std::optional<Buffer> buffer;
  {
    const auto pool = std::make_shared<DeviceMemoryResource>(device, DeviceMemoryResourceOptions{});
    buffer = pool->allocate(64, device.create_stream());
  }
  EXPECT_EQ(fake.live("pool"), 1);
  EXPECT_EQ(fake.live("stream"), 1);
  fake.forget_calls();
  buffer.reset();
  const std::vector<std::string> calls = fake.calls();
  EXPECT_LT(position(calls, "cuMemFreeAsync"), position(calls, "cuMemPoolDestroy"));
  EXPECT_LT(position(calls, "cuMemFreeAsync"), position(calls, "cuStreamDestroy"));
}

TEST_F(Ownership, CopiesShareOneHandle) {
  Stream a = device.create_stream();
  Stream b = a;
  EXPECT_EQ(a, b);
  a.close();
  EXPECT_TRUE(a.is_closed());
  EXPECT_EQ(fake.live("stream"), 1);
  b.sync();
  b.close();
  EXPECT_EQ(fake.live("stream"), 0);
}

TEST_F(Ownership, ClosedObjectsRefuse) {
  Stream stream = device.create_stream();
  Event event = device.create_event();
  Buffer buffer = device.allocate(16, stream);
  const Stream open = device.create_stream();
  stream.close();
  event.close();
  buffer.close();
  EXPECT_THROW((void)stream.handle(), std::invalid_argument);
  EXPECT_THROW(stream.sync(), std::invalid_argument);
  EXPECT_THROW(stream.record(device.create_event()), std::invalid_argument);
  EXPECT_THROW((void)event.is_done(), std::invalid_argument);
  EXPECT_THROW(open.record(event), std::invalid_argument);
  EXPECT_THROW(open.wait(stream), std::invalid_argument);
  EXPECT_EQ(buffer.handle(), 0U);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_THROW((void)buffer.device_id(), std::invalid_argument);
  EXPECT_THROW(buffer.fill(0, 1, open), std::invalid_argument);
  EXPECT_THROW(Argument{buffer}, std::invalid_argument);
  EXPECT_THROW((void)device.allocate(16, stream), std::invalid_argument);
}

TEST_F(Ownership, BorrowedStreamsAreNotDestroyed) {
  const Stream own = device.create_stream();
  auto owner = std::make_shared<int>(1);
  {
    const Stream borrowed = Stream::from_handle(own.handle(), owner);
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(borrowed, own);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(fake.count("cuStreamDestroy"), 0);
  EXPECT_EQ(Stream::from_handle(nullptr), Stream::legacy_default());
}

TEST_F(Ownership, WrappedMemoryIsNotFreedButKeepsItsOwner) {
  auto owner = std::make_shared<int>(1);
  {
    const Buffer buffer = Buffer::from_handle(0x1000, 16, nullptr, owner);
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(buffer.device_id(), 0);
    EXPECT_FALSE(buffer.is_host_accessible());
    EXPECT_THROW((void)buffer.host_pointer(), std::invalid_argument);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(Ownership, PerThreadStreamsReleaseOnTheLegacyStream) {
  device.set_current();
  device.allocate(16, Stream::per_thread_default()).close();
  EXPECT_EQ(fake.free_streams, std::vector<CUstream>{CU_STREAM_LEGACY});
}

TEST_F(Ownership, ReleaseFollowsTheStreamThatIsAskedFor) {
  const Stream first = device.create_stream();
  const Stream second = device.create_stream();
  const Stream third = device.create_stream();
  device.allocate(16, first).close();
  Buffer moved = device.allocate(16, first);
  moved.set_deallocation_stream(second);
  moved.close();
  device.allocate(16, first).close(third);
  EXPECT_EQ(fake.free_streams,
            (std::vector<CUstream>{first.handle(), second.handle(), third.handle()}));
}

TEST_F(Ownership, EmptyBuffersTouchNothing) {
  const Stream stream = device.create_stream();
  const Buffer empty = device.allocate(0, stream);
  EXPECT_FALSE(empty.is_closed());
  EXPECT_EQ(empty.handle(), 0U);
  EXPECT_EQ(empty.size(), 0U);
  empty.fill(0, 1, stream);
  EXPECT_EQ(fake.live("pool memory"), 0);
}

TEST_F(Ownership, FailuresOfDeletersAreReported) {
  const unsigned long long before = system::unraisable_errors();
  {
    const Stream stream = device.create_stream();
    fake.fail_function("cuStreamDestroy", CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(system::unraisable_errors(), before + 1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0],
            "cuStreamDestroy failed while an object was released: CUDA_ERROR_INVALID_VALUE (1)");
}

/// A user-defined resource, which fails.
class Failing final : public MemoryResource {
 public:
  Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override {
    return Buffer::from_handle(0x1000, size, shared_from_this(), nullptr, stream);
  }
  void deallocate(CUdeviceptr, std::size_t, const std::optional<Stream>&) override {
    throw std::runtime_error("no");
  }
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return 0; }
};

TEST_F(Ownership, AResourceThatThrowsIsReported) {
  { const Buffer buffer = std::make_shared<Failing>()->allocate(7, std::nullopt); }
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0], "a buffer of 7 bytes at 0x1000 was not released: no");
}

TEST_F(Ownership, PoolsKeepWhatIsFreed) {
  const auto pool = std::make_shared<DeviceMemoryResource>(device);
  EXPECT_FALSE(pool->is_handle_owned());
  EXPECT_EQ(pool->attribute(PoolAttribute::release_threshold), ~std::uint64_t{0});
  pool->set_attribute(PoolAttribute::reuse_allow_opportunistic, 1);
  EXPECT_EQ(pool->attribute(PoolAttribute::reuse_allow_opportunistic), 1U);
  EXPECT_THROW(pool->set_attribute(PoolAttribute::used_mem_current, 0), std::invalid_argument);
  EXPECT_THROW(pool->set_attribute(PoolAttribute::used_mem_high, 1), std::invalid_argument);
  pool->set_attribute(PoolAttribute::used_mem_high, 0);
}

TEST_F(Ownership, WhatIsMissingSaysWhatToUse) {
  EXPECT_THROW(DeviceMemoryResource(Device(1)), NotSupportedError);
  EXPECT_THROW(DeviceMemoryResource(device, DeviceMemoryResourceOptions{.ipc_enabled = true}),
               NotSupportedError);
  EXPECT_THROW(Event(device.context(), {.ipc_enabled = true}), NotSupportedError);
  Device(1).set_current();
  try {
    const PinnedMemoryResource pool;
    FAIL();
  } catch (const NotSupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("LegacyPinnedMemoryResource"), std::string::npos);
  }
  fake.table().version = 12090;
  EXPECT_THROW(ManagedMemoryResource{}, NotSupportedError);
  fake.table().version = 13000;
  EXPECT_NO_THROW(ManagedMemoryResource({.preferred_location = 0}));
}

TEST_F(Ownership, OutOfMemorySaysHowMuch) {
  const Stream stream = device.create_stream();
  fake.fail_function("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
  try {
    (void)device.allocate(std::size_t{1} << 40, stream);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_STREQ(
        error.what(),
        "cuMemAllocFromPoolAsync failed on device 0 (Fake GPU), 1 TiB: "
        "CUDA_ERROR_OUT_OF_MEMORY (2): what the driver says. The device has 1 GiB of 2 GiB "
        "free. Free buffers, or trim() the memory resources that keep freed memory.");
  }
  fake.clear_faults();
}

TEST_F(Ownership, CopiesAndFillsCheckSizes) {
  const Stream stream = device.create_stream();
  const Buffer a = device.allocate(8, stream);
  const Buffer b = device.allocate(8, stream);
  const Buffer odd = device.allocate(7, stream);
  a.fill(0x01020304, 4, stream);
  b.copy_from(a, stream);
  std::array<std::byte, 8> bytes{};
  b.copy_to(bytes, stream);
  EXPECT_EQ(bytes[4], std::byte{4});
  EXPECT_THROW(b.copy_from(odd, stream), std::invalid_argument);
  EXPECT_THROW(b.copy_to(std::span(bytes).first(7), stream), std::invalid_argument);
  EXPECT_THROW(odd.fill(1, 2, stream), std::invalid_argument);
  EXPECT_THROW(a.fill(1, 3, stream), std::invalid_argument);
  EXPECT_THROW(a.fill(256, 1, stream), std::overflow_error);
}

TEST_F(Ownership, CallbacksReportWhatTheyRaise) {
  const Stream stream = device.create_stream();
  bool called = false;
  stream.add_callback([&] { called = true; });
  EXPECT_TRUE(called);
  stream.add_callback([] { throw std::runtime_error("oh"); });
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0], "a stream callback raised: oh");
  auto owned = std::make_shared<int>(1);
  fake.fail_function("cuLaunchHostFunc", CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THROW(stream.add_callback([owned] {}), NotSupportedError);
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace cudacore
