// SPDX-License-Identifier: Apache-2.0
//
// Events that processes share, through the driver's functions. The tests of the Python extension
// have several processes; here, one opens what it exports.
#include "driver_test_support.hpp"
#include "simulator/api/stream/event.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {
namespace {

class DriverSharedEvent : public DriverTest {
 protected:
  static constexpr unsigned shared = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

  static CUipcEventHandle handle_of(CUevent event) {
    CUipcEventHandle handle{};
    EXPECT_EQ(cuIpcGetEventHandle(&handle, event), CUDA_SUCCESS);
    return handle;
  }
};

TEST_F(DriverSharedEvent, OneRecordsAndTheOtherWaits) {
  const CUevent event = make_event(shared);
  CUevent same = nullptr;
  ASSERT_EQ(cuIpcOpenEventHandle(&same, handle_of(event)), CUDA_SUCCESS);
  EXPECT_NE(same, event);
  EXPECT_EQ(cuEventQuery(same), CUDA_SUCCESS);  // never recorded
  const CUstream one = make_stream();
  const CUstream other = make_stream();
  Gate gate(one);
  ASSERT_EQ(cuEventRecord(event, one), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, same, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(same), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuEventSynchronize(same), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST_F(DriverSharedEvent, ALostContextEndsTheWait) {
  const CUevent event = make_event(shared);
  const CUstream stream = make_stream();
  const Gate gate(stream);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  const auto live = registry().events.find(event)->shared;
  break_context(CUDA_ERROR_LAUNCH_FAILED);
  registry().contexts.find(context)->streams->group->fail(CUDA_ERROR_LAUNCH_FAILED);
  live->wait(live->newest());
  EXPECT_TRUE(live->has_reached(live->newest()));
}

TEST_F(DriverSharedEvent, GraphsRefuseThem) {
  const CUevent event = make_event(shared);
  const CUstream stream = make_stream();
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_NOT_SUPPORTED);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverSharedEvent, WrongHandlesAreRefused) {
  const CUevent event = make_event(shared);
  const CUipcEventHandle right = handle_of(event);
  CUevent opened = nullptr;
  const std::size_t before = open_descriptors();
  for (std::size_t i = 0; i < sizeof right.reserved; ++i) {
    CUipcEventHandle changed = right;
    changed.reserved[i] ^= 1;
    EXPECT_EQ(cuIpcOpenEventHandle(&opened, changed), CUDA_ERROR_INVALID_HANDLE) << i;
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(cuIpcOpenEventHandle(&opened, right), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(open_descriptors(), before - 1);
  CUipcEventHandle handle{};
  EXPECT_EQ(cuIpcGetEventHandle(&handle, make_event()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuIpcGetEventHandle(&handle, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventCreate(&opened, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cudacore::simulator
