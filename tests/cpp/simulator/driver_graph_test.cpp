// SPDX-License-Identifier: Apache-2.0
//
// Definitions of graphs, through the driver's functions.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "graph_test_support.hpp"

namespace cudacore::simulator {
namespace {

class DriverGraph : public GraphTest {};

TEST_F(DriverGraph, CreatedAndDestroyed) {
  CUgraph other = nullptr;
  EXPECT_EQ(cuGraphCreate(&other, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  std::size_t count = 7;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverGraph, TellsItsNodesAndEdges) {
  CUgraphNode a = add_empty();
  CUgraphNode b = add_empty({a});
  CUgraphNode c = add_empty({a});
  CUgraphNode d = add_empty({b, c});
  EXPECT_EQ(nodes_of(graph), (std::vector{a, b, c, d}));

  std::array<CUgraphNode, 4> from{};
  std::array<CUgraphNode, 4> to{};
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetRootNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(cuGraphGetRootNodes(graph, from.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(from[0], a);
  EXPECT_EQ(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(cuGraphGetEdges_v2(graph, from.data(), to.data(), nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(from, (std::array{a, a, b, c}));
  EXPECT_EQ(to, (std::array{b, c, d, d}));
  count = from.size();
  EXPECT_EQ(cuGraphNodeGetDependencies_v2(d, from.data(), nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(from[0], b);
  EXPECT_EQ(from[1], c);
  count = from.size();
  EXPECT_EQ(cuGraphNodeGetDependentNodes_v2(a, from.data(), nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(from[0], b);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  EXPECT_EQ(cuGraphNodeGetType(a, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EMPTY);
}

TEST_F(DriverGraph, EdgesAreAddedAndRemoved) {
  CUgraphNode a = add_empty();
  CUgraphNode b = add_empty();
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &b, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &b, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &a, &b, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &a, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, nullptr, nullptr, nullptr, 0), CUDA_SUCCESS);
}

TEST_F(DriverGraph, RefusesForeignAndRepeatedDependencies) {
  CUgraph other = nullptr;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  CUgraphNode a = add_empty();
  CUgraphNode theirs = nullptr;
  ASSERT_EQ(cuGraphAddEmptyNode(&theirs, other, nullptr, 0), CUDA_SUCCESS);
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, &theirs, 1), CUDA_ERROR_INVALID_VALUE);
  std::array twice{a, a};
  EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, twice.data(), 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &theirs, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(nodes_of(graph).size(), 1U);
}

TEST_F(DriverGraph, CyclesAreNoticedWhenItIsInstantiated) {
  CUgraphNode a = add_empty();
  CUgraphNode b = add_empty({a});
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &b, &a, nullptr, 1), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  EXPECT_EQ(cuGraphInstantiateWithParams(&executable, graph, &parameters),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &b, &a, nullptr, 1), CUDA_SUCCESS);
  EXPECT_NE(instantiate(), nullptr);
}

TEST_F(DriverGraph, EdgesHaveData) {
  CUgraphNode a = add_node(launch(add, 1));
  CUgraphNode b = add_node(launch(add, 1));
  CUgraphEdgeData data{};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &b, &data, 1), CUDA_SUCCESS);
  std::size_t count = 1;
  CUgraphNode from = nullptr;
  EXPECT_EQ(cuGraphNodeGetDependencies_v2(b, &from, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  CUgraphEdgeData told{};
  count = 1;
  EXPECT_EQ(cuGraphNodeGetDependencies_v2(b, &from, &told, &count), CUDA_SUCCESS);
  EXPECT_EQ(from, a);
  EXPECT_EQ(told.type, data.type);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &a, &b, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &a, &b, &data, 1), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode empty = add_empty();
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &empty, &b, &data, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraph, DestroyedNodesLeaveNoEdges) {
  CUgraphNode a = add_empty();
  CUgraphNode b = add_empty({a});
  CUgraphNode c = add_empty({b});
  EXPECT_EQ(cuGraphDestroyNode(b), CUDA_SUCCESS);
  EXPECT_EQ(nodes_of(graph), (std::vector{a, c}));
  std::size_t count = 9;
  EXPECT_EQ(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0U);
}

TEST_F(DriverGraph, KernelNodesKeepTheirParameters) {
  CUgraphNode node = add_node(launch(add, 7));
  CUDA_KERNEL_NODE_PARAMS told{};
  EXPECT_EQ(cuGraphKernelNodeGetParams_v2(node, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.gridDimX, 1U);
  EXPECT_EQ(*static_cast<unsigned*>(told.kernelParams[1]), 7U);
  told.blockDimX = 2;
  EXPECT_EQ(cuGraphKernelNodeSetParams_v2(node, &told), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeGetParams_v2(node, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.blockDimX, 2U);
  EXPECT_EQ(*static_cast<unsigned*>(told.kernelParams[1]), 7U);
  CUDA_HOST_NODE_PARAMS host{};
  EXPECT_EQ(cuGraphHostNodeGetParams(node, &host), CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeParams wrong = launch(add, 1);
  wrong.kernel.blockDimX = 5000;
  CUgraphNode none = nullptr;
  EXPECT_EQ(cuGraphAddNode_v2(&none, graph, nullptr, nullptr, 0, &wrong), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraph, KernelNodesHaveAttributes) {
  CUgraphNode a = add_node(launch(add, 1));
  CUgraphNode b = add_node(launch(add, 1));
  CUlaunchAttributeValue value{};
  value.cooperative = 1;
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeCopyAttributes(b, a), CUDA_SUCCESS);
  value = {};
  EXPECT_EQ(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
            CUDA_SUCCESS);
  EXPECT_EQ(value.cooperative, 1);
  value.priority = -100;
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.priority, -5);
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                          &value),
            CUDA_ERROR_INVALID_VALUE);
  CUgraphNode empty = add_empty();
  EXPECT_EQ(cuGraphKernelNodeGetAttribute(empty, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraph, ClonesAreTheirOwn) {
  CUgraphNode a = add_node(launch(add, 3));
  CUgraphNode b = add_node(launch(times, 5), {a});
  CUgraph clone = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  CUgraphNode in_clone = nullptr;
  EXPECT_EQ(cuGraphNodeFindInClone(&in_clone, b, clone), CUDA_SUCCESS);
  CUgraphNodeParams changed = launch(times, 7);
  EXPECT_EQ(cuGraphNodeSetParams(in_clone, &changed), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeFindInClone(&in_clone, b, graph), CUDA_ERROR_INVALID_VALUE);
  run(instantiate());
  EXPECT_EQ(value_at(), 15U);
  set_word(0);
  run(instantiate(clone));
  EXPECT_EQ(value_at(), 21U);
}

TEST_F(DriverGraph, ChildrenAreCopies) {
  CUgraph child = nullptr;
  ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  add_to(child, launch(add, 2));
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child), CUDA_SUCCESS);
  add_to(child, launch(add, 100));
  add_node(launch(times, 10), {node});
  CUgraph embedded = nullptr;
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(node, &embedded), CUDA_SUCCESS);
  EXPECT_NE(embedded, child);
  EXPECT_EQ(nodes_of(embedded).size(), 1U);
  EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
  run(instantiate());
  EXPECT_EQ(value_at(), 20U);
}

TEST_F(DriverGraph, ChildrenCanBeMoved) {
  CUgraph child = nullptr;
  ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  add_to(child, launch(add, 2));
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = child;
  parameters.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  CUgraphNode node = add_node(parameters);
  CUgraph embedded = nullptr;
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(node, &embedded), CUDA_SUCCESS);
  EXPECT_EQ(embedded, child);
  CUgraphExec executable = nullptr;
  EXPECT_NE(cuGraphInstantiateWithFlags(&executable, child, 0), CUDA_SUCCESS);
  EXPECT_NE(cuGraphDestroy(child), CUDA_SUCCESS);
  run(instantiate());
  EXPECT_EQ(value_at(), 2U);
}

TEST_F(DriverGraph, UserObjectsLiveAsLongAsTheyAreUsed) {
  std::atomic<int> destroyed{0};
  const auto count = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
  const auto wait_for = [&](int expected) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (destroyed != expected && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    return destroyed.load();
  };
  CUuserObject object = nullptr;
  EXPECT_EQ(cuUserObjectCreate(&object, &destroyed, count, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectCreate(&object, &destroyed, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  CUgraphExec executable = instantiate();
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  run(executable);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(wait_for(1), 1);

  EXPECT_EQ(cuUserObjectCreate(&object, &destroyed, count, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRetain(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 2), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(wait_for(2), 2);
}

TEST_F(DriverGraph, IsDrawn) {
  CUgraphNode a = add_node(launch(add, 3));
  add_empty({a});
  const std::string path = testing::TempDir() + "/graph.dot";
  EXPECT_EQ(cuGraphDebugDotPrint(graph, path.c_str(), 0), CUDA_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  EXPECT_NE(text.str().find("digraph"), std::string::npos);
  EXPECT_NE(text.str().find("add"), std::string::npos);
  EXPECT_NE(text.str().find("->"), std::string::npos);
  EXPECT_EQ(cuGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0),
            CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace
}  // namespace cudacore::simulator
