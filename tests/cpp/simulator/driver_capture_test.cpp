// SPDX-License-Identifier: Apache-2.0
//
// Stream capture, through the driver's functions.
#include <atomic>
#include <thread>

#include "graph_test_support.hpp"

namespace cudacore::simulator {
namespace {

class DriverCapture : public GraphTest {
 protected:
  static CUresult begin(CUstream in, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    return cuStreamBeginCapture_v2(in, mode);
  }
  static CUgraph end(CUstream in) {
    CUgraph captured = nullptr;
    EXPECT_EQ(cuStreamEndCapture(in, &captured), CUDA_SUCCESS);
    EXPECT_NE(captured, nullptr);
    return captured;
  }
  /// Ends a capture that was invalidated.
  void end_invalid(CUstream in) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(cuStreamIsCapturing(in, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_EQ(launch_on(in, add, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CUgraph captured = graph;
    EXPECT_EQ(cuStreamEndCapture(in, &captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(captured, nullptr);
    EXPECT_EQ(cuStreamIsCapturing(in, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  }
  static std::size_t edges_of(CUgraph of) {
    std::size_t count = 0;
    EXPECT_EQ(cuGraphGetEdges_v2(of, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
    return count;
  }
};

TEST_F(DriverCapture, CapturesWhatAStreamIsGiven) {
  std::atomic<int> calls{0};
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(word, 4, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(stream, add, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(word + 4, word, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(
                stream, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &calls),
            CUDA_SUCCESS);
  CUgraph captured = end(stream);
  EXPECT_EQ(nodes_of(captured).size(), 4U);
  EXPECT_EQ(edges_of(captured), 3U);
  EXPECT_EQ(value_at(), 0U);
  CUgraphExec executable = instantiate(captured);
  run(executable);
  run(executable);
  EXPECT_EQ(value_at(0), 7U);
  EXPECT_EQ(value_at(1), 7U);
  EXPECT_EQ(calls, 2);
}

TEST_F(DriverCapture, TellsAboutItself) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(stream, add, 3), CUDA_SUCCESS);
  cuuint64_t id = 0;
  CUgraph into = nullptr;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(cuStreamGetCaptureInfo_v2(stream, &status, &id, &into, &nodes, &count), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_NE(id, 0U);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(nodes_of(into), (std::vector{nodes[0]}));
  EXPECT_EQ(end(stream), into);
}

TEST_F(DriverCapture, OtherStreamsJoinByEvents) {
  CUstream other = make_stream();
  CUevent fork = make_event(CU_EVENT_DISABLE_TIMING);
  CUevent join = make_event(CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(stream, add, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(other, times, 5), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(word + 4, 9, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(join, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, join, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(word + 8, word, 8, stream), CUDA_SUCCESS);
  CUgraph captured = end(stream);
  EXPECT_EQ(nodes_of(captured).size(), 4U);
  EXPECT_EQ(edges_of(captured), 4U);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamIsCapturing(other, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  run(instantiate(captured));
  EXPECT_EQ(value_at(2), 15U);
  EXPECT_EQ(value_at(3), 9U);
}

TEST_F(DriverCapture, UnjoinedWorkIsAnError) {
  CUstream other = make_stream();
  CUevent fork = make_event(CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(other, times, 5), CUDA_SUCCESS);
  CUgraph captured = graph;
  EXPECT_EQ(cuStreamEndCapture(stream, &captured), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(captured, nullptr);
  EXPECT_EQ(launch_on(stream, add, 2), CUDA_SUCCESS);
  // Both launches write the same number.
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(other, add, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DriverCapture, EndsWhereItBegan) {
  CUstream other = make_stream();
  CUevent fork = make_event(CU_EVENT_DISABLE_TIMING);
  CUgraph captured = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream, &captured), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(begin(stream), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(other, &captured), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  end_invalid(stream);
}

TEST_F(DriverCapture, EndsInItsThread) {
  EXPECT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  std::thread([&] {
    CUgraph captured = nullptr;
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(stream, &captured), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    end(stream);
  }).join();
}

TEST_F(DriverCapture, WaitingInvalidates) {
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_invalid(stream);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_invalid(stream);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_invalid(stream);
}

TEST_F(DriverCapture, CapturedEventsCannotBeWaitedFor) {
  CUevent event = make_event();
  EXPECT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
  end_invalid(stream);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
}

TEST_F(DriverCapture, UncapturedEventsBreakTheIsolation) {
  CUevent event = make_event();
  CUstream other = make_stream();
  EXPECT_EQ(cuEventRecord(event, other), CUDA_SUCCESS);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  end_invalid(stream);
}

TEST_F(DriverCapture, CapturesDoNotMerge) {
  CUevent event = make_event();
  CUstream other = make_stream();
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(begin(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  end_invalid(stream);
  end_invalid(other);
}

TEST_F(DriverCapture, TheLegacyStreamWouldWait) {
  CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  EXPECT_EQ(begin(CU_STREAM_LEGACY), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(begin(blocking), CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(cuStreamIsCapturing(CU_STREAM_LEGACY, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(launch_on(nullptr, add, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  end_invalid(blocking);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);  // does not block
  EXPECT_EQ(launch_on(nullptr, add, 1), CUDA_SUCCESS);
  end(stream);
}

TEST_F(DriverCapture, ModesForbidUnsafeCalls) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_invalid(stream);

  EXPECT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), CUDA_SUCCESS);
  end(stream);

  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    const bool forbids = mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    EXPECT_EQ(begin(stream, mode), CUDA_SUCCESS);
    std::thread([&] {
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      EXPECT_EQ(cuMemAlloc_v2(&memory, 64),
                forbids ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
    }).join();
    if (forbids) {
      end_invalid(stream);
    } else {
      end(stream);
    }
  }

  EXPECT_EQ(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  end(stream);
}

TEST_F(DriverCapture, GoesIntoAnExistingGraph) {
  CUgraphNode first = add_node(launch(add, 3));
  EXPECT_EQ(
      cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL),
      CUDA_SUCCESS);
  EXPECT_EQ(launch_on(stream, times, 4), CUDA_SUCCESS);
  EXPECT_EQ(end(stream), graph);
  EXPECT_EQ(edges_of(graph), 1U);
  run(instantiate());
  EXPECT_EQ(value_at(), 12U);
}

TEST_F(DriverCapture, InstantiatingItsGraphInvalidates) {
  EXPECT_EQ(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                        CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  EXPECT_NE(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  end_invalid(stream);
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverCapture, NodesHaveThePriorityOfTheStream) {
  CUstream urgent = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, -3), CUDA_SUCCESS);
  EXPECT_EQ(begin(urgent), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(urgent, add, 4), CUDA_SUCCESS);
  CUlaunchAttributeValue value{};
  EXPECT_EQ(cuGraphKernelNodeGetAttribute(nodes_of(end(urgent)).front(),
                                          CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(value.priority, -3);
}

TEST_F(DriverCapture, DependenciesAreReplaced) {
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_v2(stream, nullptr, nullptr, 0, 0),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(stream, add, 3), CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph into = nullptr;
  EXPECT_EQ(cuStreamGetCaptureInfo_v2(stream, &status, nullptr, &into, nullptr, nullptr),
            CUDA_SUCCESS);
  CUgraphNode kernel = nodes_of(into).front();
  CUgraphNode mine = add_to(into, launch(times, 7), {kernel});
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_v2(stream, &mine, nullptr, 1,
                                                 CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(launch_on(stream, add, 1), CUDA_SUCCESS);
  CUgraph captured = end(stream);
  EXPECT_EQ(edges_of(captured), 2U);
  run(instantiate(captured));
  EXPECT_EQ(value_at(), 22U);
}

TEST_F(DriverCapture, ExternalEventsBecomeNodes) {
  CUevent event = make_event();
  EXPECT_EQ(begin(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
  CUgraph captured = end(stream);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  ASSERT_EQ(nodes_of(captured).size(), 2U);
  EXPECT_EQ(cuGraphNodeGetType(nodes_of(captured)[0], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  EXPECT_EQ(cuGraphNodeGetType(nodes_of(captured)[1], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  run(instantiate(captured));
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST_F(DriverCapture, JoinedStreamsCanBeDestroyed) {
  for (const bool joins : {true, false}) {
    CUstream other = make_stream();
    CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
    EXPECT_EQ(begin(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
    EXPECT_EQ(launch_on(other, add, 3), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(event, other), CUDA_SUCCESS);
    if (joins) {
      EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuStreamDestroy_v2(other), CUDA_SUCCESS);
    CUgraph captured = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream, &captured),
              joins ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  }
}

TEST_F(DriverCapture, EndsWithItsStream) {
  CUstream other = make_stream();
  EXPECT_EQ(begin(other), CUDA_SUCCESS);
  EXPECT_EQ(launch_on(other, add, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cudacore::simulator
