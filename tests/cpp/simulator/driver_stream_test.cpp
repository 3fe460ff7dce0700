// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and host functions, through the driver's functions.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {
namespace {

using std::chrono::milliseconds;

class DriverStream : public DriverTest {};
class DriverEvent : public DriverTest {};

void count(void* data) { ++*static_cast<std::atomic<int>*>(data); }

TEST_F(DriverStream, TellsAboutItself) {
  CUstream stream = make_stream();
  unsigned flags = 0;
  int priority = 7;
  unsigned long long id = 0;
  unsigned long long other_id = 0;
  CUcontext its = nullptr;
  CUdevice device = -1;
  EXPECT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, 0);
  EXPECT_EQ(cuStreamGetId(stream, &id), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetId(nullptr, &other_id), CUDA_SUCCESS);
  EXPECT_NE(id, other_id);
  EXPECT_EQ(cuStreamGetCtx(stream, &its), CUDA_SUCCESS);
  EXPECT_EQ(its, context);
  EXPECT_EQ(cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuStreamGetFlags(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(DriverStream, PrioritiesAreClamped) {
  for (const auto& [asked, given] : {std::pair{-1, -1}, {-1000, -5}, {1000, 0}}) {
    CUstream stream = nullptr;
    int priority = 7;
    ASSERT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, asked), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
    EXPECT_EQ(priority, given);
  }
}

TEST_F(DriverStream, WrongArguments) {
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamCreate(&stream, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(0x1234)), CUDA_ERROR_INVALID_HANDLE);
  stream = make_stream();
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchHostFunc(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverStream, HeldAndOpened) {
  CUstream stream = make_stream();
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
  Gate gate(stream);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamSynchronize(make_stream()), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

TEST_F(DriverStream, WorkGoesOnAfterDestroy) {
  std::atomic<int> calls{0};
  CUstream stream = make_stream();
  Gate gate(stream);
  EXPECT_EQ(cuLaunchHostFunc(stream, count, &calls), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(calls, 0);
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(calls, 1);
}

TEST_F(DriverStream, DefaultStreamsOrder) {
  CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  CUstream free = make_stream();
  std::atomic<int> calls{0};
  Gate gate(blocking);
  Gate beside(free);
  ASSERT_EQ(cuLaunchHostFunc(nullptr, count, &calls), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(CU_STREAM_PER_THREAD, count, &calls), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize_ptsz(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(cuStreamQuery(free), CUDA_ERROR_NOT_READY);
}

TEST_F(DriverStream, PerThreadStreamsAreEachThreadsOwn) {
  Gate gate(CU_STREAM_PER_THREAD);
  CUresult result = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    cuCtxSetCurrent(context);
    result = cuStreamQuery(CU_STREAM_PER_THREAD);
  }).join();
  EXPECT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
}

TEST_F(DriverStream, HostFunctionsKeepOrderAndMayNotCallTheDriver) {
  struct Seen {
    std::vector<int> order;
    CUresult result = CUDA_SUCCESS;
  } seen;
  struct Call {
    Seen* seen;
    int number;
  };
  std::vector<Call> calls;
  for (int i = 0; i < 100; ++i) calls.push_back({&seen, i});
  CUstream stream = make_stream();
  for (Call& call : calls) {
    ASSERT_EQ(cuLaunchHostFunc(
                  stream,
                  [](void* data) {
                    const auto& its = *static_cast<Call*>(data);
                    its.seen->order.push_back(its.number);
                    if (its.number != 50) return;
                    CUstream unused = nullptr;
                    its.seen->result = cuStreamCreate(&unused, 0);
                  },
                  &call),
              CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(seen.order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen.order[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(seen.result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(DriverStream, WaitsForValues) {
  void* memory = nullptr;
  ASSERT_EQ(cuMemAllocHost_v2(&memory, 16), CUDA_SUCCESS);
  auto* words = static_cast<cuuint64_t*>(memory);
  std::memset(memory, 0, 16);
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  CUstream waiting = make_stream();
  CUstream writing = make_stream();
  ASSERT_EQ(cuStreamWaitValue64(waiting, address, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue64(waiting, address + 8, 9, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue64(writing, address, 6, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(waiting), CUDA_SUCCESS);
  EXPECT_EQ(words[1], 9U);
  EXPECT_EQ(cuStreamWriteValue32(writing, address + 2, 6, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue32(writing, 0x1000, 6, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverStream, BrokenContextSaysSoEverywhere) {
  std::atomic<int> calls{0};
  std::atomic<int> told{0};
  CUstream stream = make_stream();
  CUevent event = make_event();
  Gate gate(stream);
  ASSERT_EQ(cuLaunchHostFunc(stream, count, &calls), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamAddCallback(
                stream,
                [](CUstream, CUresult status, void* data) {
                  if (status == CUDA_ERROR_ILLEGAL_ADDRESS) count(data);
                },
                &told, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  break_context(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuLaunchHostFunc(stream, count, &calls), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
  gate.open();
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);  // waits for what was dropped
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(told, 1);
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
}

TEST_F(DriverStream, Attributes) {
  CUstream stream = make_stream();
  CUstream other = make_stream();
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  EXPECT_EQ(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamCopyAttributes(other, stream), CUDA_SUCCESS);
  value = {};
  EXPECT_EQ(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
  EXPECT_EQ(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverEvent, IsASnapshot) {
  CUstream stream = make_stream();
  CUevent event = make_event();
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  Gate gate(stream);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverEvent, WaitsAreForTheRecordingAtTheCall) {
  CUstream first = make_stream();
  CUstream second = make_stream();
  CUstream third = make_stream();
  CUevent event = make_event();
  EXPECT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(second), CUDA_SUCCESS);
  Gate gate(first);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, third), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(first), CUDA_SUCCESS);
}

TEST_F(DriverEvent, Times) {
  CUstream stream = make_stream();
  CUevent start = make_event();
  CUevent end = make_event();
  CUevent plain = make_event(CU_EVENT_DISABLE_TIMING);
  float elapsed = -1;
  ASSERT_EQ(cuEventRecord(start, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&elapsed, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventElapsedTime_v2(&elapsed, start, plain), CUDA_ERROR_INVALID_HANDLE);
  Gate gate(stream);
  ASSERT_EQ(cuEventRecord(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime_v2(&elapsed, start, end), CUDA_ERROR_NOT_READY);
  std::this_thread::sleep_for(milliseconds(10));
  gate.open();
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime_v2(&elapsed, start, end), CUDA_SUCCESS);
  EXPECT_GE(elapsed, 10.0F);
  EXPECT_LT(elapsed, 10'000.0F);
  EXPECT_EQ(cuEventElapsedTime(&elapsed, start, start), CUDA_SUCCESS);
  EXPECT_EQ(elapsed, 0.0F);
}

TEST_F(DriverEvent, BelongsToItsContext) {
  CUevent event = make_event();
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUstream stream = make_stream();
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverEvent, WrongFlags) {
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverStream, ManyThreads) {
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      cuCtxSetCurrent(context);
      CUstream stream = nullptr;
      EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
      CUevent event = nullptr;
      EXPECT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(cuLaunchHostFunc(stream, count, &calls), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0), CUDA_SUCCESS);
      }
      EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
      EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(calls, 200);
}

}  // namespace
}  // namespace cudacore::simulator
