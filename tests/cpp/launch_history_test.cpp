// SPDX-License-Identifier: Apache-2.0
//
// Which kernels an error may come from.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "context_test_support.hpp"
#include "error/interned_names.hpp"

namespace cudacore {
namespace {

using testing::ContextTest;

TEST(History, NamesEachKernelOnceNewestLast) {
  error::LaunchHistory history;
  const char* a = error::intern("a");
  const char* b = error::intern("b");
  EXPECT_EQ(error::intern(std::string("a")), a);
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
  error::LaunchHistory history;
  const auto first = reinterpret_cast<CUstream>(std::uintptr_t{0x10});
  const auto second = reinterpret_cast<CUstream>(std::uintptr_t{0x20});
  history.add(error::intern("a"), first);
  history.add(error::intern("b"), second);
  const std::uint64_t mark = history.mark();
  history.add(error::intern("c"), first);
  history.synced(mark, first);
  EXPECT_EQ(history.since_sync(), (std::vector<std::string>{"b", "c"}));
}

TEST(History, NamesWithoutUsersAreFreed) {
  const std::size_t before = error::interned_names();
  const char* kept = error::intern("used all the time");
  for (int i = 0; i < 10000; ++i) {
    const char* name = error::intern("a kernel named " + std::to_string(i));
    EXPECT_EQ(error::intern("a kernel named " + std::to_string(i)), name);
    error::give_back_name(name);
    error::give_back_name(name);
  }
  EXPECT_LT(error::interned_names(), before + 2000);
  EXPECT_STREQ(kept, "used all the time");
  EXPECT_EQ(error::intern("used all the time"), kept);
}

TEST_F(ContextTest, NamesInAHistoryStay) {
  error::ContextBox& context = *error::primary_context(0);
  const char* told = error::intern("told of");
  context.history.add(told);
  error::give_back_name(told);
  for (int i = 0; i < 5000; ++i) {
    error::give_back_name(error::intern("untold kernel " + std::to_string(i)));
  }
  EXPECT_EQ(context.history.since_sync().back(), "told of");
}

TEST(History, KeepsTheLastAndStandsManyThreads) {
  error::LaunchHistory history;
  const auto stream = reinterpret_cast<CUstream>(std::uintptr_t{0x10});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&history, stream, name = error::intern("k" + std::to_string(i))] {
      for (int j = 0; j < 2000; ++j) {
        history.add(name, stream);
        if (j % 100 == 0) history.synced(history.mark(), stream);
        if (j % 100 == 50) (void)history.since_sync();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 64; ++i) history.add(error::intern("last"), stream);
  EXPECT_EQ(history.since_sync(), std::vector<std::string>{"last"});
}

}  // namespace
}  // namespace cudacore
