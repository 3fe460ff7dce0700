// SPDX-License-Identifier: Apache-2.0
#include "driver/process.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/system.hpp"
#include "error/unraisable.hpp"
#include "fake_driver.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;

/// Runs a function in a forked child; returns the child's exit status.
int in_child(const std::function<int()>& function) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  return WEXITSTATUS(status);
}

template <typename Function>
bool refuses(Function function) {
  try {
    function();
  } catch (const ForkedProcessError& error) {
    return std::string(error.what()).find("spawn") != std::string::npos;
  } catch (...) {
  }
  return false;
}

class Process : public ::testing::Test {
 protected:
  void SetUp() override { driver::watch_process(); }
  FakeDriver& fake = FakeDriver::fresh();
};

TEST_F(Process, TheForkedChildIsRefusedEverywhere) {
  const Device device(0);
  const Stream stream = device.create_stream();
  const Event event = device.create_event();
  const Buffer buffer = device.allocate(8, stream);
  const int failures = in_child([&] {
    int count = 0;
    const auto expect = [&](bool held) { count += held ? 0 : 1; };
    expect(driver::is_forked_child());
    expect(driver::api_for_cleanup() == nullptr);
    expect(refuses([&] { stream.sync(); }));
    expect(refuses([&] { (void)event.is_done(); }));
    expect(refuses([&] { buffer.fill(0, 1, stream); }));
    expect(refuses([] { (void)Device::count(); }));
    expect(refuses([] { (void)Context::current(); }));
    expect(refuses([&] { device.sync(); }));
    expect(refuses([&] { (void)device.create_stream(); }));
    return count;
  });
  EXPECT_EQ(failures, 0);
  EXPECT_FALSE(driver::is_forked_child());
  stream.sync();
}

TEST_F(Process, DeletersDoNothingInTheChild) {
  const Device device(0);
  std::optional<Stream> stream = device.create_stream();
  std::optional<Event> event = device.create_event();
  std::optional<Buffer> buffer = device.allocate(8, *stream);
  const unsigned long long before = system::unraisable_errors();
  const int status = in_child([&] {
    fake.forget_calls();
    buffer.reset();
    event.reset();
    stream.reset();
    return fake.calls().empty() && system::unraisable_errors() == before ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fake.live(), 3);
}

TEST_F(Process, DeletersDoNothingOnTheWayOut) {
  // Runs in a separate process, because a forked child is rejected for another reason.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::optional<Stream> stream = Device(0).create_stream();
        driver::set_exiting();
        fake.forget_calls();
        stream.reset();
        std::_Exit(fake.calls().empty() && driver::api_for_cleanup() == nullptr ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cudacore
