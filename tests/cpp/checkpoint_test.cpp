// SPDX-License-Identifier: Apache-2.0
#include "cudacore/checkpoint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "cudacore/error.hpp"
#include "fake_driver.hpp"
#include "messages.hpp"

namespace cudacore::checkpoint {
namespace {

using testing::contains;
using testing::FakeDriver;
using testing::message_of;

/// What the calls were given, and what they return.
struct Seen {
  CUresult result = CUDA_SUCCESS;
  int state = CU_PROCESS_STATE_RUNNING;
  int pid = 0;
  unsigned timeout = 0;
  std::vector<CUcheckpointGpuPair> pairs{};
};
Seen seen;

CUresult get_state(int pid, CUprocessState* state) {
  seen.pid = pid;
  std::memcpy(state, &seen.state, sizeof(*state));  // which may have no such value
  return CUDA_SUCCESS;
}
CUresult get_thread(int pid, int* thread) {
  *thread = pid + 1;
  return seen.result;
}
CUresult lock(int /*pid*/, CUcheckpointLockArgs* arguments) {
  seen.timeout = arguments->timeoutMs;
  return seen.result;
}
CUresult checkpoint(int /*pid*/, CUcheckpointCheckpointArgs* /*arguments*/) { return seen.result; }
CUresult restore(int /*pid*/, CUcheckpointRestoreArgs* arguments) {
  seen.pairs.assign(arguments->gpuPairs, arguments->gpuPairs + arguments->gpuPairsCount);
  return seen.result;
}
CUresult unlock(int /*pid*/, CUcheckpointUnlockArgs* /*arguments*/) { return seen.result; }

class Checkpoints : public ::testing::Test {
 protected:
  void SetUp() override {
    seen = {};
    driver::DriverApi& table = fake.table();
    table.cuCheckpointProcessGetState = &get_state;
    table.cuCheckpointProcessGetRestoreThreadId = &get_thread;
    table.cuCheckpointProcessLock = &lock;
    table.cuCheckpointProcessCheckpoint = &checkpoint;
    table.cuCheckpointProcessRestore = &restore;
    table.cuCheckpointProcessUnlock = &unlock;
  }

  FakeDriver& fake = FakeDriver::fresh();
  Process process{4711};
};

TEST_F(Checkpoints, AreTakenStepByStep) {
  process.lock(250);
  EXPECT_EQ(seen.timeout, 250U);
  seen.state = CU_PROCESS_STATE_LOCKED;
  EXPECT_EQ(process.state(), ProcessState::locked);
  EXPECT_EQ(seen.pid, 4711);
  process.checkpoint();
  EXPECT_EQ(process.restore_thread_id(), 4712);
  process.restore();
  EXPECT_TRUE(seen.pairs.empty());
  process.unlock();
}

TEST_F(Checkpoints, DevicesMayBeReplaced) {
  DevicePair pair;
  pair.had.front() = 1;
  pair.gets.back() = 2;
  process.restore(std::vector{pair});
  ASSERT_EQ(seen.pairs.size(), 1U);
  EXPECT_EQ(seen.pairs.front().oldUuid.bytes[0], 1);
  EXPECT_EQ(seen.pairs.front().newUuid.bytes[15], 2);
}

TEST_F(Checkpoints, EachCallThatFailsSaysInWhichStateTheProcessIs) {
  seen.result = CUDA_ERROR_INVALID_VALUE;
  seen.state = CU_PROCESS_STATE_CHECKPOINTED;
  const auto said = [&](auto call, const char* function) {
    const std::string message = message_of<Error>(call);
    return contains(message, function) && contains(message, "process 4711, which is checkpointed");
  };
  EXPECT_TRUE(
      said([&] { (void)process.restore_thread_id(); }, "cuCheckpointProcessGetRestoreThreadId"));
  EXPECT_TRUE(said([&] { process.lock(); }, "cuCheckpointProcessLock"));
  EXPECT_TRUE(said([&] { process.checkpoint(); }, "cuCheckpointProcessCheckpoint"));
  EXPECT_TRUE(said([&] { process.restore(); }, "cuCheckpointProcessRestore"));
  EXPECT_TRUE(said([&] { process.unlock(); }, "cuCheckpointProcessUnlock"));
}

TEST_F(Checkpoints, StateThatNobodyKnows) {
  seen.state = 77;
  EXPECT_THROW((void)process.state(), NotSupportedError);
}

TEST_F(Checkpoints, OldDriversHaveNone) {
  fake.table().cuCheckpointProcessLock = nullptr;
  fake.table().cuCheckpointProcessGetState = nullptr;
  EXPECT_THROW(process.lock(), NotSupportedError);
  EXPECT_THROW((void)process.state(), NotSupportedError);
  seen.result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_TRUE(contains(message_of<Error>([&] { process.unlock(); }), "process 4711"));
}

TEST_F(Checkpoints, IdsArePositive) {
  EXPECT_THROW(Process(0), std::invalid_argument);
  EXPECT_THROW(Process(-1), std::invalid_argument);
}

}  // namespace
}  // namespace cudacore::checkpoint
