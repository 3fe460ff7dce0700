// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs, through the driver's functions.
#include <atomic>

#include "graph_test_support.hpp"

namespace cudacore::simulator {
namespace {

class DriverGraphLaunch : public GraphTest {
 protected:
  [[nodiscard]] CUgraphNodeParams fill(unsigned value, std::size_t index = 0,
                                       std::size_t count = 1) const {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
    parameters.memset = {word + index * sizeof(unsigned), 0, value, 4, count, 1, nullptr};
    return parameters;
  }
  [[nodiscard]] CUgraphNodeParams copy(std::size_t to, std::size_t from,
                                       std::size_t count = 1) const {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    CUDA_MEMCPY3D& box = parameters.memcpy.copyParams;
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = word + from * sizeof(unsigned);
    box.dstDevice = word + to * sizeof(unsigned);
    box.WidthInBytes = count * sizeof(unsigned);
    box.Height = box.Depth = 1;
    return parameters;
  }
  [[nodiscard]] CUgraphNodeParams conditional(CUgraphConditionalHandle handle,
                                              CUgraphConditionalNodeType type,
                                              unsigned size) const {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional = {handle, type, size, nullptr, context};
    return parameters;
  }
  CUgraphConditionalHandle make_condition(unsigned initial) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, graph, context, initial,
                                             CU_GRAPH_COND_ASSIGN_DEFAULT),
              CUDA_SUCCESS);
    return handle;
  }
};

TEST_F(DriverGraphLaunch, RunsNodesInOrder) {
  CUgraphNode last = add_node(launch(times, 10));
  CUgraphNode middle = add_node(launch(add, 3));
  CUgraphNode first = add_node(fill(2));
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &middle, &last, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &first, &middle, nullptr, 1), CUDA_SUCCESS);
  add_node(copy(1, 0), {last});
  CUgraphExec executable = instantiate();
  run(executable);
  run(executable);
  EXPECT_EQ(value_at(0), 50U);
  EXPECT_EQ(value_at(1), 50U);
}

TEST_F(DriverGraphLaunch, AnEmptyGraphDoesNothing) {
  CUgraphExec executable = instantiate();
  run(executable);
  EXPECT_EQ(cuGraphUpload(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
}

TEST_F(DriverGraphLaunch, ManyNodes) {
  std::vector<CUgraphNode> last;
  for (int i = 0; i < 3000; ++i) last = {add_node(launch(add, 1), last)};
  CUgraphExec executable = instantiate();
  run(executable);
  EXPECT_EQ(value_at(), 3000U);
}

TEST_F(DriverGraphLaunch, CallsTheHost) {
  std::atomic<int> calls{0};
  CUDA_HOST_NODE_PARAMS host{[](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &calls};
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddHostNode(&node, graph, nullptr, 0, &host), CUDA_SUCCESS);
  CUDA_HOST_NODE_PARAMS told{};
  EXPECT_EQ(cuGraphHostNodeGetParams(node, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.userData, &calls);
  CUgraphExec executable = instantiate();
  run(executable);
  run(executable);
  EXPECT_EQ(calls, 2);
}

TEST_F(DriverGraphLaunch, LaunchesKeepWhatTheyWereQueuedWith) {
  CUgraphNode node = add_node(launch(add, 1));
  CUgraphExec executable = instantiate();
  {
    Gate gate(stream);
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    CUgraphNodeParams changed = launch(add, 100);
    EXPECT_EQ(cuGraphExecNodeSetParams(executable, node, &changed), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(value_at(), 101U);
}

TEST_F(DriverGraphLaunch, LaunchesOfOneGraphDoNotOverlap) {
  add_node(launch(add, 1));
  CUgraphExec executable = instantiate();
  CUstream other = make_stream();
  Gate gate(stream);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(value_at(), 2U);
}

TEST_F(DriverGraphLaunch, NodesAreDisabled) {
  CUgraphNode a = add_node(launch(add, 1));
  CUgraphNode b = add_node(launch(add, 10), {a});
  CUgraphNode empty = add_empty({b});
  CUgraphExec executable = instantiate();
  unsigned enabled = 7;
  EXPECT_EQ(cuGraphNodeGetEnabled(executable, a, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 1U);
  EXPECT_EQ(cuGraphNodeSetEnabled(executable, a, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeGetEnabled(executable, a, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 0U);
  run(executable);
  EXPECT_EQ(value_at(), 10U);
  EXPECT_EQ(cuGraphNodeSetEnabled(executable, a, 1), CUDA_SUCCESS);
  run(executable);
  EXPECT_EQ(value_at(), 21U);
  EXPECT_EQ(cuGraphNodeSetEnabled(executable, empty, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraphLaunch, IsUpdated) {
  CUgraphNode a = add_node(launch(add, 1));
  add_node(launch(times, 2), {a});
  CUgraphExec executable = instantiate();
  CUgraph next = nullptr;
  ASSERT_EQ(cuGraphCreate(&next, 0), CUDA_SUCCESS);
  CUgraphNode c = add_to(next, launch(add, 5));
  CUgraphNode d = add_to(next, launch(times, 3), {c});
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, next, &info), CUDA_SUCCESS);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(executable);
  EXPECT_EQ(value_at(), 15U);

  CUgraphNode e = add_to(next, launch(add, 5), {d});
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, next, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(cuGraphDestroyNode(e), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroyNode(d), CUDA_SUCCESS);
  CUgraphNode f = nullptr;
  EXPECT_EQ(cuGraphAddEmptyNode(&f, next, &c, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, next, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(info.errorNode, f);
  set_word(0);
  run(executable);
  EXPECT_EQ(value_at(), 15U);
}

TEST_F(DriverGraphLaunch, ChildrenAreUpdated) {
  CUgraph child = nullptr;
  ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  add_to(child, launch(add, 1));
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child), CUDA_SUCCESS);
  CUgraphExec executable = instantiate();
  CUgraph next = nullptr;
  ASSERT_EQ(cuGraphCreate(&next, 0), CUDA_SUCCESS);
  add_to(next, launch(add, 40));
  EXPECT_EQ(cuGraphExecChildGraphNodeSetParams(executable, node, next), CUDA_SUCCESS);
  run(executable);
  EXPECT_EQ(value_at(), 40U);
  add_to(next, launch(add, 40));
  EXPECT_NE(cuGraphExecChildGraphNodeSetParams(executable, node, next), CUDA_SUCCESS);

  CUgraph embedded = nullptr;
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(node, &embedded), CUDA_SUCCESS);
  CUgraphNodeParams changed = launch(add, 2);
  EXPECT_EQ(cuGraphExecNodeSetParams(executable, nodes_of(embedded).front(), &changed),
            CUDA_SUCCESS);
  run(executable);
  EXPECT_EQ(value_at(), 42U);
}

TEST_F(DriverGraphLaunch, RefusesWhatItWasNotMadeWith) {
  add_node(launch(add, 1));
  CUgraphExec executable = instantiate();
  CUgraphNode later = add_node(launch(add, 1));
  CUgraphNodeParams changed = launch(add, 100);
  EXPECT_EQ(cuGraphExecNodeSetParams(executable, later, &changed), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeSetEnabled(executable, later, 0), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec none = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&none, graph, 1ULL << 20U), CUDA_ERROR_INVALID_VALUE);
  cuuint64_t flags = 7;
  CUgraphExec freeing = instantiate(nullptr, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  EXPECT_EQ(cuGraphExecGetFlags(freeing, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH});
}

TEST_F(DriverGraphLaunch, IsMadeForLaunchesByKernels) {
  constexpr unsigned for_kernels = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, for_kernels), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode kernel = add_node(launch(add, 4));
  EXPECT_EQ(cuGraphInstantiateWithFlags(
                &executable, graph, for_kernels | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
            CUDA_ERROR_INVALID_VALUE);
  executable = instantiate(nullptr, for_kernels);
  EXPECT_EQ(cuGraphUpload(executable, stream), CUDA_SUCCESS);
  run(executable);
  EXPECT_EQ(value_at(), 4U);
  CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddHostNode(&node, graph, &kernel, 1, &host), CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = for_kernels;
  EXPECT_EQ(cuGraphInstantiateWithParams(&executable, graph, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
}

TEST_F(DriverGraphLaunch, RecordsAndWaitsForEvents) {
  CUevent start = make_event();
  CUevent end = make_event();
  CUevent before = make_event();
  CUgraphNode wait = nullptr;
  CUgraphNode record = nullptr;
  ASSERT_EQ(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, before), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph, &wait, 1, start), CUDA_SUCCESS);
  CUgraphNode kernel = add_node(launch(times, 5), {record});
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph, &kernel, 1, end), CUDA_SUCCESS);
  CUevent told = nullptr;
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(record, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, end);
  CUgraphExec executable = instantiate();

  CUstream other = make_stream();
  Gate gate(other);
  EXPECT_EQ(launch_on(other, add, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(before, other), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(end), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(value_at(), 15U);
}

TEST_F(DriverGraphLaunch, WaitsForAndWritesValues) {
  std::array<CUstreamBatchMemOpParams, 1> operations{};
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = word;
  operations[0].writeValue.value = 77;
  CUDA_BATCH_MEM_OP_NODE_PARAMS parameters{context, 1, operations.data(), 0};
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  run(instantiate());
  EXPECT_EQ(value_at(), 77U);
}

TEST_F(DriverGraphLaunch, IfRunsABody) {
  const CUgraphConditionalHandle handle = make_condition(1);
  CUgraphNode decision = add_node(launch_decide(1, handle));
  CUgraphNodeParams parameters = conditional(handle, CU_GRAPH_COND_TYPE_IF, 2);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddNode_v2(&node, graph, &decision, nullptr, 1, &parameters), CUDA_SUCCESS);
  add_to(parameters.conditional.phGraph_out[0], launch(add, 100));
  add_to(parameters.conditional.phGraph_out[1], launch(add, 1000));
  add_node(launch(times, 2), {node});
  CUgraphExec executable = instantiate();
  set_word(2);
  run(executable);
  EXPECT_EQ(value_at(), (1U + 100) * 2);
  set_word(1);
  run(executable);
  EXPECT_EQ(value_at(), 1000U * 2);
}

TEST_F(DriverGraphLaunch, WhileRepeatsItsBody) {
  const CUgraphConditionalHandle handle = make_condition(1);
  CUgraphNodeParams parameters = conditional(handle, CU_GRAPH_COND_TYPE_WHILE, 1);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
  CUgraph body = parameters.conditional.phGraph_out[0];
  CUgraphNode count = add_to(body, launch(add, 1, word + sizeof(unsigned)));
  add_to(body, launch_decide(1, handle), {count});
  CUgraphExec executable = instantiate();
  set_word(5);
  run(executable);
  EXPECT_EQ(value_at(0), 0U);
  EXPECT_EQ(value_at(1), 5U);
}

TEST_F(DriverGraphLaunch, SwitchSelectsABody) {
  const CUgraphConditionalHandle handle = make_condition(0);
  CUgraphNode decision = add_node(launch_decide(0, handle));
  CUgraphNodeParams parameters = conditional(handle, CU_GRAPH_COND_TYPE_SWITCH, 3);
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddNode_v2(&node, graph, &decision, nullptr, 1, &parameters), CUDA_SUCCESS);
  for (unsigned i = 0; i < 3; ++i) {
    add_to(parameters.conditional.phGraph_out[i], launch(add, 10 * (i + 1)));
  }
  CUgraphExec executable = instantiate();
  for (const auto& [given, expected] : {std::pair{0U, 10U}, {1U, 21U}, {2U, 32U}, {3U, 3U}}) {
    set_word(given);
    run(executable);
    EXPECT_EQ(value_at(), expected);
  }
}

TEST_F(DriverGraphLaunch, ConditionalsAreChecked) {
  const CUgraphConditionalHandle handle = make_condition(0);
  CUgraphExec executable = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS instantiation{};
  EXPECT_NE(cuGraphInstantiateWithParams(&executable, graph, &instantiation), CUDA_SUCCESS);
  EXPECT_EQ(instantiation.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
  CUgraphNode node = nullptr;
  CUgraphNodeParams wrong = conditional(handle, CU_GRAPH_COND_TYPE_WHILE, 2);
  EXPECT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &wrong), CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeParams right = conditional(handle, CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &right), CUDA_SUCCESS);
  CUgraphNodeParams again = conditional(handle, CU_GRAPH_COND_TYPE_IF, 1);
  EXPECT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &again), CUDA_ERROR_INVALID_VALUE);
  CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  EXPECT_EQ(cuGraphAddHostNode(&node, right.conditional.phGraph_out[0], nullptr, 0, &host),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, right.conditional.phGraph_out[0], 0),
            CUDA_ERROR_NOT_SUPPORTED);
  CUgraph clone = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace cudacore::simulator
