// SPDX-License-Identifier: Apache-2.0
#include "cudacore/context.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "context_test_support.hpp"
#include "cudacore/device.hpp"
#include "error/context_box.hpp"

namespace cudacore {
namespace {

using testing::ContextTest;
using testing::FakeDriver;

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
  EXPECT_EQ(Context(error::context_box(context.handle())), context);
}

TEST_F(ContextTest, ScopesRestore) {
  const Context a = foreign();
  const Context b = Device(0).context();
  fake.forget_calls();
  {
    const error::ContextScope same(fake.table(), *a.box());
    EXPECT_EQ(fake.count("cuCtxSetCurrent"), 0);
    const error::ContextScope other(fake.table(), *b.box());
    EXPECT_EQ(FakeDriver::current(), b.handle());
  }
  EXPECT_EQ(FakeDriver::current(), a.handle());
  FakeDriver::set_current(nullptr);
  { const error::ContextScope kept(fake.table(), *b.box()); }
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

}  // namespace
}  // namespace cudacore
