// SPDX-License-Identifier: Apache-2.0
//
// Waits, with and without a hook, and the events that they reuse.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "context_test_support.hpp"
#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/system.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::ContextTest;
using testing::message_of;

class Waiting : public ContextTest {
 protected:
  void SetUp() override {
    ContextTest::SetUp();
    // An earlier test may have freed memory to the pool, which changes how the next wait ends.
    (void)Device(0).context().box()->take_freed_to_pool();
  }

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
  event = stream.record();
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

TEST_F(Waiting, EventsThatWereRecordedAreOnlyUsedForRecords) {
  const Context context = Device(0).context();
  for (const bool timing : {false, true}) {
    fake.forget_calls();
    const EventOptions options{.timing_enabled = timing};
    Event old = stream.record(options);
    old.sync();
    old.close();
    const Event made(context, options);
    EXPECT_EQ(fake.count("cuEventCreate"), 2);
    const Event recorded = stream.record(options);
    EXPECT_EQ(fake.count("cuEventCreate"), 2);
    EXPECT_EQ(fake.count("cuEventDestroy"), 0);
    recorded.sync();
    if (!timing) continue;
    EXPECT_THROW((void)recorded.elapsed_since(made), std::invalid_argument);
    EXPECT_THROW((void)made.elapsed_since(recorded), std::invalid_argument);
    EXPECT_EQ(fake.count("cuEventElapsedTime"), 0);
  }
}

TEST_F(Waiting, EventsWhoseRecordFailedStillCountAsRecorded) {
  Event old = stream.record();
  old.sync();
  old.close();
  fake.fail_function("cuEventRecord", CUDA_ERROR_UNKNOWN);
  EXPECT_THROW((void)stream.record(), Error);
  fake.clear_faults();
  const Event made(Device(0).context(), {});
  EXPECT_EQ(fake.count("cuEventCreate"), 2);
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

/// The driver with some functions replaced, until the end of the scope.
class ChangedDriver {
 public:
  ChangedDriver() { driver::install_for_testing(&table); }
  ~ChangedDriver() { driver::install_for_testing(original); }

  const driver::DriverApi* original = &driver::api();
  driver::DriverApi table = *original;
};

TEST_F(Waiting, EventsThatAreRecordedWhileTheyAreWaitedForAreNotUsedAgain) {
  static const Event* asked = nullptr;
  static const Stream* other = nullptr;
  Event event = stream.record();
  const Stream second = Device(0).create_stream();
  asked = &event;
  other = &second;
  ChangedDriver changed;
  changed.table.cuEventQuery = [](CUevent) {
    other->record(*asked);
    return CUDA_SUCCESS;
  };
  EXPECT_TRUE(event.is_done());
  event.close();
  EXPECT_EQ(fake.count("cuEventDestroy"), 1);
}

TEST_F(Waiting, ObjectsOfAContextThatOtherCodeEndedAreNotTouched) {
  const Context context = Device(0).context();
  Event(context, {}).close();
  Event event = stream.record();
  Stream second = Device(0).create_stream();
  fake.forget_calls();
  {
    ChangedDriver changed;  // the context comes back at the same address
    changed.table.cuCtxGetId = [](CUcontext, unsigned long long* id) {
      return *id = 1'000'000, CUDA_SUCCESS;
    };
    EXPECT_THROW((Event(context, {})), ContextLostError);
    event.close();
    second.close();
  }
  for (const char* function : {"cuEventCreate", "cuEventDestroy", "cuStreamDestroy"}) {
    EXPECT_EQ(fake.count(function), 0) << function;
  }
  EXPECT_TRUE(context.is_lost());
  EXPECT_THROW((void)Device(0).create_stream(), ContextLostError);
}

TEST_F(Waiting, PriorityMustBeInTheDevicesRange) {
  EXPECT_THROW((void)Device(0).create_stream({.priority = 1}), std::invalid_argument);
  EXPECT_THROW((void)Device(0).create_stream({.priority = -6}), std::invalid_argument);
  EXPECT_EQ(Device(0).create_stream({.priority = -5}).priority(), -1);
}

}  // namespace
}  // namespace cudacore
