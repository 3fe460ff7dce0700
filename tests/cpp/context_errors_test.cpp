// SPDX-License-Identifier: Apache-2.0
//
// Codes become exceptions; an error that ends a context names the suspects.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "context_test_support.hpp"
#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/launch.hpp"
#include "cudacore/legacy_pinned_memory_resource.hpp"
#include "cudacore/memory_resource.hpp"
#include "cudacore/synchronous_memory_resource.hpp"
#include "cudacore/system.hpp"
#include "error/check.hpp"
#include "error/context_box.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "messages.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore {
namespace {

using testing::ContextTest;
using testing::FakeDriver;
using testing::FakeKernel;
using testing::message_of;
using testing::reports;

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
                error::format_address(reinterpret_cast<std::uintptr_t>(stream.handle())) +
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
  EXPECT_TRUE(error::suspects().empty());
  EXPECT_TRUE(error::known_contexts().empty());
  const std::string lost = message_of<ContextLostError>([&] { before.sync(); });
  EXPECT_NE(lost.find("is unusable since a reset ended it. "), std::string::npos) << lost;
  const Stream after(foreign(), {});
  launch(after, {}, Kernel::from_handle(reinterpret_cast<CUkernel>(&late)));
  EXPECT_EQ(error::suspects(), "suspect, launched since the last successful synchronization: late");
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
  EXPECT_THROW(error::check(CUDA_ERROR_LAUNCH_FAILED, "cuSomething"), LaunchError);
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
  const auto check = [](int code) { error::check(static_cast<CUresult>(code), "cuCall", "it"); };
  foreign();
  EXPECT_THROW(check(2), OutOfMemoryError);
  for (const int code : {1, 101, 200, 201, 400, 500}) EXPECT_THROW(check(code), InvalidValueError);
  for (const int code : {209, 222, 801}) EXPECT_THROW(check(code), NotSupportedError);
  for (const int code : {4, 709}) EXPECT_THROW(check(code), ContextLostError);
  for (const int code : {701, 912}) EXPECT_THROW(check(code), LaunchError);
  for (const int code : {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 911}) {
    foreign();
    error::forget_loss();
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

}  // namespace
}  // namespace cudacore
