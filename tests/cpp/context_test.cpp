// SPDX-License-Identifier: Apache-2.0
#include "cudacore/context.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/launch.hpp"
#include "cudacore/memory_resource.hpp"
#include "cudacore/system.hpp"
#include "error/check.hpp"
#include "error/context_box.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "fake_driver.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;
using testing::FakeKernel;

std::vector<std::string>& reports() {
  static std::vector<std::string> list;
  return list;
}

class ContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    reports().clear();
    system::set_log_hook([](const char* message) { reports().emplace_back(message); });
  }
  void TearDown() override {
    system::set_interrupt_hook(nullptr);
    system::set_log_hook(nullptr);
  }

  /// A context that no other test has seen, made current.
  Context foreign(int device = 0) {
    FakeDriver::set_current(fake.create_context(device));
    return Context::current();
  }

  void reset() {
    handle::forget_contexts("a reset");
    fake.end_contexts();
  }

  FakeDriver& fake = FakeDriver::fresh();
};

template <typename Exception>
std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_F(ContextTest, PrimaryIsRetainedOnce) {
  const Context first = Device(3).context();
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain"), 1);
  EXPECT_EQ(Device(3).context(), first);
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain"), 1);
  EXPECT_EQ(first.device(), Device(3));
  EXPECT_EQ(FakeDriver::current(), nullptr);  // checking changes nothing
}

TEST_F(ContextTest, CurrentFallsBackToDeviceZero) {
  EXPECT_EQ(Context::current(), Device(0).context());
  EXPECT_EQ(FakeDriver::current(), Device(0).context().handle());
  EXPECT_EQ(Device::current(), Device(0));
}

TEST_F(ContextTest, AForeignContextHasOneBox) {
  const Context context = foreign(2);
  EXPECT_EQ(context.device(), Device(2));
  EXPECT_EQ(Context::current(), context);
  FakeDriver::set_current(nullptr);
  EXPECT_EQ(Context(handle::context_box(context.handle())), context);
}

TEST_F(ContextTest, ScopesRestore) {
  const Context a = foreign();
  const Context b = Device(0).context();
  fake.forget_calls();
  {
    const handle::ContextScope same(fake.table(), *a.box());
    EXPECT_EQ(fake.count("cuCtxSetCurrent"), 0);
    const handle::ContextScope other(fake.table(), *b.box());
    EXPECT_EQ(FakeDriver::current(), b.handle());
  }
  EXPECT_EQ(FakeDriver::current(), a.handle());
  FakeDriver::set_current(nullptr);
  { const handle::ContextScope kept(fake.table(), *b.box()); }
  EXPECT_EQ(FakeDriver::current(), b.handle());
}

TEST_F(ContextTest, AnyThreadMayUseAnyObject) {
  const Context context = foreign();
  const Stream stream(context, {});
  std::thread([&] {
    const Event event = stream.record();
    event.sync();
    const Buffer buffer = stream.device().allocate(8, stream);
    stream.sync();
  }).join();
  EXPECT_EQ(fake.live("pool memory"), 0);
}

TEST_F(ContextTest, AStickyErrorNamesTheSuspectsAndLosesTheContext) {
  const Context context = foreign();
  const Stream stream(context, {});
  FakeKernel early{.symbol = "_Z5earlyv"};
  FakeKernel good{.symbol = "_Z4goodv"};
  FakeKernel bad{.symbol = "_Z3badv"};
  launch(stream, {}, Kernel::from_handle(reinterpret_cast<CUkernel>(&early)));
  context.sync();
  launch(stream, {}, Kernel::from_handle(reinterpret_cast<CUkernel>(&good)));
  const Kernel kernel = Kernel::from_handle(reinterpret_cast<CUkernel>(&bad));
  launch(stream, {}, kernel);
  launch(stream, {}, kernel);
  fake.fail_function("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
  const std::string first = message_of<LaunchError>([&] { stream.sync(); });
  EXPECT_EQ(first,
            "cuStreamSynchronize failed on stream " +
                handle::format_address(reinterpret_cast<std::uintptr_t>(stream.handle())) +
                " of device 0 (Fake GPU): CUDA_ERROR_ILLEGAL_ADDRESS (700): what the driver says. "
                "The suspects, launched since the last successful synchronization, newest last: "
                "good, bad. CUDA is unusable in this process from here on: restart it, and "
                "run it under `compute-sanitizer` to find the access.");
  EXPECT_TRUE(context.is_lost());
  fake.clear_faults();
  fake.forget_calls();
  const std::string second = message_of<ContextLostError>([&] { stream.sync(); });
  EXPECT_NE(second.find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos) << second;
  EXPECT_NE(second.find("good, bad"), std::string::npos) << second;
  EXPECT_THROW(launch(stream, {}, kernel), ContextLostError);
  EXPECT_THROW(context.sync(), ContextLostError);
  EXPECT_THROW((void)Event(context, {}), ContextLostError);
  EXPECT_EQ(fake.count("cuStreamSynchronize") + fake.count("cuLaunchKernelEx"), 0);
  EXPECT_TRUE(Device(1).context().is_lost());
  EXPECT_THROW((void)Device(1).create_stream(), ContextLostError);
}

TEST_F(ContextTest, OneSuspectIsOne) {
  reset();
  const Stream stream(foreign(), {});
  FakeKernel bad{.symbol = "_Z3badv"};
  launch(stream, {}, Kernel::from_handle(reinterpret_cast<CUkernel>(&bad)));
  fake.fail_function("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
  const std::string said = message_of<LaunchError>([&] { stream.sync(); });
  EXPECT_NE(said.find(". The suspect, launched since the last successful synchronization: bad. "),
            std::string::npos)
      << said;
}

TEST_F(ContextTest, SuspectsOfSeveralContextsStandApart) {
  reset();
  const Stream here(foreign(0), {});
  const Stream there(foreign(1), {});
  FakeKernel first{.symbol = "_Z5firstv"};
  FakeKernel second{.symbol = "_Z6secondv"};
  const Kernel early = Kernel::from_handle(reinterpret_cast<CUkernel>(&first));
  const Kernel late = Kernel::from_handle(reinterpret_cast<CUkernel>(&second));
  launch(there, {}, early);
  launch(here, {}, early);
  launch(here, {}, late);
  fake.fail_function("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
  const std::string said = message_of<LaunchError>([&] { here.sync(); });
  EXPECT_NE(said.find("The suspects, launched since the last successful synchronization, newest "
                      "last in each context: device 0: first, second; device 1: first. "),
            std::string::npos)
      << said;
}

TEST_F(ContextTest, ForgottenContextsHaveNoSuspects) {
  FakeKernel early{.symbol = "_Z5earlyv"};
  FakeKernel late{.symbol = "_Z4latev"};
  const Stream before(foreign(), {});
  launch(before, {}, Kernel::from_handle(reinterpret_cast<CUkernel>(&early)));
  reset();
  EXPECT_TRUE(handle::suspects().empty());
  EXPECT_TRUE(handle::known_contexts().empty());
  const std::string lost = message_of<ContextLostError>([&] { before.sync(); });
  EXPECT_NE(lost.find("is unusable since a reset ended it. "), std::string::npos) << lost;
  const Stream after(foreign(), {});
  launch(after, {}, Kernel::from_handle(reinterpret_cast<CUkernel>(&late)));
  EXPECT_EQ(handle::suspects(),
            "suspect, launched since the last successful synchronization: late");
}

TEST_F(ContextTest, BuffersFromBeforeAResetAreStale) {
  const auto allocate = [&](const std::shared_ptr<MemoryResource>& resource) {
    return resource->allocate(64, std::nullopt);
  };
  const Stream stream(foreign(), {});
  Buffer pooled = Device(0).allocate(64, stream);
  Buffer unpooled = allocate(std::make_shared<SynchronousMemoryResource>(Device(0)));
  Buffer pinned = allocate(std::make_shared<LegacyPinnedMemoryResource>());
  reset();
  const Stream fresh(foreign(), {});
  fake.forget_calls();
  for (Buffer* buffer : {&pooled, &unpooled, &pinned}) {
    EXPECT_THROW(buffer->fill(0, 1, fresh), ContextLostError);
    EXPECT_THROW((void)buffer->slice(0, 8), ContextLostError);
    EXPECT_THROW((void)Argument(*buffer), ContextLostError);
    EXPECT_THROW(buffer->set_deallocation_stream(fresh), ContextLostError);
    buffer->close(fresh);
    EXPECT_TRUE(buffer->is_closed());
  }
  for (const char* function : {"cuMemsetD8Async", "cuMemFreeAsync", "cuMemFree", "cuMemFreeHost"}) {
    EXPECT_EQ(fake.count(function), 0) << function;
  }
  EXPECT_TRUE(reports().empty());
  const Buffer usable = Device(0).allocate(64, fresh);
  usable.fill(0, 1, fresh);
  EXPECT_THROW(usable.set_deallocation_stream(stream), ContextLostError);
}

TEST_F(ContextTest, AskingForParametersNamesTheKernelAndHasAContext) {
  FakeKernel kernel{.symbol = "_Z1kPi", .parameter_sizes = {8}};
  FakeDriver::set_current(nullptr);
  (void)Kernel::from_handle(reinterpret_cast<CUkernel>(&kernel));
  EXPECT_EQ(FakeDriver::current(), Device(0).context().handle());
  fake.fail_function("cuKernelGetParamInfo", CUDA_ERROR_INVALID_CONTEXT);
  const std::string said = message_of<InvalidValueError>(
      [&] { (void)Kernel::from_handle(reinterpret_cast<CUkernel>(&kernel)); });
  EXPECT_NE(said.find("cuKernelGetParamInfo failed on kernel _Z1kPi, parameter 0"),
            std::string::npos)
      << said;
}

TEST_F(ContextTest, AnErrorWithNoContextFallsOnTheCurrentOne) {
  const Context context = foreign();
  EXPECT_THROW(handle::check(CUDA_ERROR_LAUNCH_FAILED, "cuSomething"), LaunchError);
  EXPECT_TRUE(context.is_lost());
}

TEST_F(ContextTest, WhatADeleterHearsTheNextCallRaises) {
  const Context context = foreign();
  const unsigned long long before = system::unraisable_errors();
  {
    const Stream a(context, {});
    const Stream b(context, {});
    const Event event(context, {});
    const Buffer buffer = Device(0).allocate(8, a);
    fake.fail_call(1, CUDA_ERROR_ILLEGAL_ADDRESS, true);
  }
  EXPECT_EQ(system::unraisable_errors(), before);
  EXPECT_EQ(fake.live(), 0);
  EXPECT_TRUE(context.is_lost());
  fake.clear_faults();
  const std::string first = message_of<LaunchError>([&] { context.sync(); });
  EXPECT_NE(first.find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos) << first;
  EXPECT_THROW(context.sync(), ContextLostError);
}

TEST_F(ContextTest, CodesBecomeExceptions) {
  const auto check = [](int code) { handle::check(static_cast<CUresult>(code), "cuCall", "it"); };
  foreign();
  EXPECT_THROW(check(2), OutOfMemoryError);
  for (const int code : {1, 101, 200, 201, 400, 500}) EXPECT_THROW(check(code), InvalidValueError);
  for (const int code : {209, 222, 801}) EXPECT_THROW(check(code), NotSupportedError);
  for (const int code : {4, 709}) EXPECT_THROW(check(code), ContextLostError);
  for (const int code : {701, 912}) EXPECT_THROW(check(code), LaunchError);
  for (const int code : {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 911}) {
    foreign();
    handle::forget_loss();
    EXPECT_THROW(check(code), LaunchError) << code;
    EXPECT_TRUE(Context::current().is_lost()) << code;
  }
  try {
    check(999);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cuCall failed on it: CUDA_ERROR_OTHER (999): what the driver says");
    EXPECT_EQ(error.code(), 999);
    EXPECT_EQ(error.name(), "CUDA_ERROR_OTHER");
    EXPECT_EQ(error.function(), "cuCall");
  }
}

TEST_F(ContextTest, AMissingFunctionNamesBothVersions) {
  EXPECT_EQ(message_of<NotSupportedError>([] { driver::throw_missing_symbol("cuNew", 13020); }),
            "cuNew needs a driver of CUDA 13.2 or later; this one (fake) speaks CUDA 13.0: update "
            "the NVIDIA driver");
}

TEST(History, NamesEachKernelOnceNewestLast) {
  handle::LaunchHistory history;
  const char* a = handle::intern("a");
  const char* b = handle::intern("b");
  EXPECT_EQ(handle::intern(std::string("a")), a);
  history.add(a);
  const std::uint64_t mark = history.mark();
  history.add(b);
  history.add(a);
  history.add(b);
  EXPECT_EQ(history.since_sync(), (std::vector<std::string>{"a", "b"}));
  history.synced(mark);
  EXPECT_EQ(history.since_sync(), (std::vector<std::string>{"a", "b"}));
  history.synced(history.mark());
  EXPECT_TRUE(history.since_sync().empty());
}

TEST(History, ForgetsOneStream) {
  handle::LaunchHistory history;
  const auto first = reinterpret_cast<CUstream>(std::uintptr_t{0x10});
  const auto second = reinterpret_cast<CUstream>(std::uintptr_t{0x20});
  history.add(handle::intern("a"), first);
  history.add(handle::intern("b"), second);
  const std::uint64_t mark = history.mark();
  history.add(handle::intern("c"), first);
  history.synced(mark, first);
  EXPECT_EQ(history.since_sync(), (std::vector<std::string>{"b", "c"}));
}

TEST(History, NamesWithoutUsersAreFreed) {
  const std::size_t before = handle::interned_names();
  const char* kept = handle::intern("used all the time");
  for (int i = 0; i < 10000; ++i) {
    const char* name = handle::intern("a kernel named " + std::to_string(i));
    EXPECT_EQ(handle::intern("a kernel named " + std::to_string(i)), name);
    handle::give_back_name(name);
    handle::give_back_name(name);
  }
  EXPECT_LT(handle::interned_names(), before + 2000);
  EXPECT_STREQ(kept, "used all the time");
  EXPECT_EQ(handle::intern("used all the time"), kept);
}

TEST_F(ContextTest, NamesInAHistoryStay) {
  handle::ContextBox& context = *handle::primary_context(0);
  const char* told = handle::intern("told of");
  context.history.add(told);
  handle::give_back_name(told);
  for (int i = 0; i < 5000; ++i) {
    handle::give_back_name(handle::intern("untold kernel " + std::to_string(i)));
  }
  EXPECT_EQ(context.history.since_sync().back(), "told of");
}

TEST(History, KeepsTheLastAndStandsManyThreads) {
  handle::LaunchHistory history;
  const auto stream = reinterpret_cast<CUstream>(std::uintptr_t{0x10});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&history, stream, name = handle::intern("k" + std::to_string(i))] {
      for (int j = 0; j < 2000; ++j) {
        history.add(name, stream);
        if (j % 100 == 0) history.synced(history.mark(), stream);
        if (j % 100 == 50) (void)history.since_sync();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 64; ++i) history.add(handle::intern("last"), stream);
  EXPECT_EQ(history.since_sync(), std::vector<std::string>{"last"});
}

class Waiting : public ContextTest {
 protected:
  Stream stream{Device(0).context(), {}};
};

TEST_F(Waiting, BlocksInTheDriverWithoutAHook) {
  stream.sync();
  stream.record().sync();
  Device(0).sync();
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1);
  EXPECT_EQ(fake.count("cuEventSynchronize"), 1);
  EXPECT_EQ(fake.count("cuStreamQuery") + fake.count("cuEventQuery"), 0);
}

TEST_F(Waiting, PollsWithAHook) {
  system::set_interrupt_hook([] { return false; });
  fake.queries_until_ready = 5;
  stream.sync();
  EXPECT_EQ(fake.count("cuStreamQuery"), 6);
  fake.queries_until_ready = 300;
  const Event event = stream.record({.blocking_sync = true});
  event.sync();
  EXPECT_EQ(fake.count("cuEventQuery"), 301);
  Device(0).sync();
  fake.queries_until_ready = 0;
  Device(0).default_stream().sync();
  EXPECT_EQ(fake.count("cuStreamSynchronize") + fake.count("cuEventSynchronize"), 0);
}

TEST_F(Waiting, EndsInTheDriverWherePoolsHaveMemoryToRelease) {
  system::set_interrupt_hook([] { return false; });
  Device(0).allocate(64, stream).close();
  stream.sync();
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1);
  stream.sync();
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1);
  Device(0).allocate(64, stream).close();
  stream.record().sync();
  EXPECT_EQ(fake.count("cuEventSynchronize"), 1);
}

TEST_F(Waiting, AnsweringTheHookTakesLessThanATenthOfASecond) {
  static std::chrono::steady_clock::time_point raised;
  raised = {};
  system::set_interrupt_hook([] {
    raised = std::chrono::steady_clock::now();
    return true;
  });
  fake.queries_until_ready = 1 << 30;
  const Event event = stream.record();
  fake.busy = true;
  for (const auto& wait : std::vector<std::function<void()>>{
           [&] { stream.sync(); }, [&] { event.sync(); }, [] { Device(0).sync(); }}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(wait(), InterruptedError);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
  }
  fake.busy = false;
  fake.queries_until_ready = 0;
  stream.sync();
  Device(0).sync();
}

TEST_F(Waiting, FailuresOfAPollAreThrown) {
  system::set_interrupt_hook([] { return false; });
  fake.fail_function("cuStreamQuery", CUDA_ERROR_INVALID_VALUE);
  EXPECT_THROW(stream.sync(), InvalidValueError);
  fake.fail_function("cuCtxSynchronize", CUDA_ERROR_INVALID_VALUE);
  EXPECT_THROW(Device(0).sync(), InvalidValueError);
}

TEST_F(Waiting, IsDoneAsksOnce) {
  fake.queries_until_ready = 2;
  EXPECT_FALSE(stream.is_done());
  EXPECT_FALSE(stream.record().is_done());
  EXPECT_TRUE(stream.is_done());
}

TEST_F(Waiting, ElapsedTimeSaysWhatIsWrong) {
  const Event start = stream.record({.timing_enabled = true});
  const Event end = stream.record({.timing_enabled = true});
  EXPECT_EQ(end.elapsed_since(start), 1.5F);
  EXPECT_THROW((void)end.elapsed_since(stream.record()), std::invalid_argument);
  EXPECT_THROW((void)end.elapsed_since(Event(Device(2).context(), {.timing_enabled = true})),
               std::invalid_argument);
  fake.fail_function("cuEventElapsedTime", CUDA_ERROR_NOT_READY);
  EXPECT_NE(message_of<std::invalid_argument>([&] { (void)end.elapsed_since(start); }).find("sync"),
            std::string::npos);
  fake.fail_function("cuEventElapsedTime", CUDA_ERROR_INVALID_HANDLE);
  EXPECT_NE(
      message_of<std::invalid_argument>([&] { (void)end.elapsed_since(start); }).find("recorded"),
      std::string::npos);
}

TEST_F(Waiting, EventsThatWereClosedIdleAreUsedAgain) {
  const Context context = Device(0).context();
  const auto made = [&] { return fake.count("cuEventCreate"); };
  Event(context, {}).close();
  Event event(context, {});
  EXPECT_EQ(made(), 1);
  stream.record(event);
  event.sync();
  event.close();
  event = Event(context, {});
  EXPECT_EQ(made(), 1);
  EXPECT_EQ(Event(context, {.timing_enabled = true}).is_timing_enabled(), true);
  EXPECT_EQ(made(), 2);
  EXPECT_EQ(fake.count("cuEventDestroy"), 0);
}

TEST_F(Waiting, EventsThatMayBeInUseAreNotUsedAgain) {
  const Context context = Device(0).context();
  stream.record().close();  // may not have been reached yet
  EXPECT_EQ(fake.count("cuEventDestroy"), 1);
  Event event = stream.record();
  event.sync();
  stream.record(event);
  event.close();
  EXPECT_EQ(fake.count("cuEventDestroy"), 2);
  Event shown(context, {});
  EXPECT_NE(shown.handle(), nullptr);  // any code that has it may record it
  shown.close();
  EXPECT_EQ(fake.count("cuEventDestroy"), 3);
  std::vector<Event> many;
  for (int i = 0; i < 40; ++i) many.emplace_back(context, EventOptions{});
  many.clear();
  EXPECT_EQ(fake.count("cuEventDestroy"), 3 + 8);  // 32 are kept
}

TEST_F(Waiting, EventsUsedAgainHaveNoRecord) {
  Event old = stream.record();
  old.sync();
  old.close();
  fake.queries_until_ready = 5;
  const Event again(Device(0).context(), {});
  EXPECT_EQ(fake.count("cuEventCreate"), 1);
  EXPECT_TRUE(again.is_done());
  again.sync();
  stream.wait(again);
  EXPECT_EQ(fake.count("cuEventSynchronize"), 1);
  EXPECT_EQ(fake.count("cuStreamWaitEvent"), 0);
}

TEST_F(Waiting, EventsThatHaveATimeAreNotUsedAgain) {
  const EventOptions timed{.timing_enabled = true};
  Event(Device(0).context(), timed).close();
  Event recorded = stream.record(timed);
  EXPECT_EQ(fake.count("cuEventCreate"), 1);
  const Event event(Device(0).context(), timed);
  recorded.sync();
  EXPECT_THROW((void)recorded.elapsed_since(event), std::invalid_argument);
  EXPECT_THROW((void)event.elapsed_since(recorded), std::invalid_argument);
  EXPECT_EQ(fake.count("cuEventElapsedTime"), 0);
  recorded.close();
  EXPECT_EQ(fake.count("cuEventDestroy"), 1);
}

TEST_F(Waiting, EventsThatWereNotReachedYetAreNotUsedAgain) {
  Event event = stream.record();
  fake.queries_until_ready = 1;
  EXPECT_FALSE(event.is_done());
  event.close();
  EXPECT_EQ(fake.count("cuEventDestroy"), 1);
  event = stream.record();
  fake.fail_function("cuEventQuery", CUDA_ERROR_UNKNOWN);
  EXPECT_THROW((void)event.is_done(), Error);
  event.close();
  EXPECT_EQ(fake.count("cuEventDestroy"), 2);
}

TEST_F(Waiting, EventsOfAContextThatOtherCodeEndedAreNotUsedAgain) {
  const Context context = Device(0).context();
  Event(context, {}).close();
  fake.fail_function("cuCtxGetId", CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const Event event(context, {});
  EXPECT_EQ(fake.count("cuEventCreate"), 2);
}

TEST_F(Waiting, PriorityMustBeInTheDevicesRange) {
  EXPECT_THROW((void)Device(0).create_stream({.priority = 1}), std::invalid_argument);
  EXPECT_THROW((void)Device(0).create_stream({.priority = -6}), std::invalid_argument);
  EXPECT_EQ(Device(0).create_stream({.priority = -5}).priority(), -1);
}

TEST_F(ContextTest, DevicesTellOfThemselves) {
  const Device device(0);
  EXPECT_EQ(Device::all().size(), 4U);
  EXPECT_EQ(device.name(), "Fake GPU");
  EXPECT_EQ(device.uuid(), "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
  EXPECT_EQ(device.pci_bus_id(), "0000:41:00.0");
  EXPECT_EQ(device.arch(), "90");
  EXPECT_EQ(device.memory_info().free, std::size_t{1} << 30);
  EXPECT_EQ(device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), -1);
  fake.forget_calls();
  EXPECT_EQ(device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), -1);
  EXPECT_EQ(fake.count("cuDeviceGetAttribute"), 0);
  EXPECT_EQ(message_of<std::invalid_argument>([] { Device{4}; }),
            "there is no device 4: the driver shows 4 devices, 0 to 3");
  EXPECT_THROW(Device{-1}, std::invalid_argument);
}

TEST_F(ContextTest, AttributesAreThoseOfCudaCore) {
  const auto attributes = device_attributes();
  EXPECT_EQ(attributes.size(), 143U);
  for (std::size_t i = 1; i < attributes.size(); ++i) {
    EXPECT_LT(attributes[i - 1].attribute, attributes[i].attribute);
  }
  EXPECT_EQ(attributes[0].name, "max_threads_per_block");
  EXPECT_EQ(attributes[0].attribute, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_FALSE(attributes[0].is_bool);
}

}  // namespace
}  // namespace cudacore
