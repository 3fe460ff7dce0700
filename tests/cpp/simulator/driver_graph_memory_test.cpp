// SPDX-License-Identifier: Apache-2.0
//
// Memory that graphs allocate and free, through the driver's functions.
#include "graph_test_support.hpp"

namespace cudacore::simulator {
namespace {

class DriverGraphMemory : public GraphTest {
 protected:
  CUgraphNode add_allocation(CUdeviceptr& address, const std::vector<CUgraphNode>& after = {}) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    parameters.bytesize = 4096;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemAllocNode(&node, graph, after.data(), after.size(), &parameters),
              CUDA_SUCCESS);
    address = parameters.dptr;
    EXPECT_NE(address, 0U);
    return node;
  }
  static cuuint64_t attribute(CUgraphMem_attribute which) {
    cuuint64_t value = ~cuuint64_t{0};
    EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, which, &value), CUDA_SUCCESS);
    return value;
  }
  [[nodiscard]] CUgraphNodeParams copy_to_word(CUdeviceptr from) const {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    parameters.memcpy.copyCtx = context;
    CUDA_MEMCPY3D& box = parameters.memcpy.copyParams;
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = from;
    box.dstDevice = word;
    box.WidthInBytes = sizeof(unsigned);
    box.Height = box.Depth = 1;
    return parameters;
  }
  [[nodiscard]] CUgraphNodeParams fill(CUdeviceptr to, unsigned value) const {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
    parameters.memset = {to, 0, value, 4, 1, 1, context};
    return parameters;
  }
};

TEST_F(DriverGraphMemory, LivesBetweenItsNodes) {
  CUdeviceptr address = 0;
  CUgraphNode allocation = add_allocation(address);
  CUgraphNode filled = add_node(fill(address, 5), {allocation});
  CUgraphNode added = add_node(launch(add, 2, address), {filled});
  CUgraphNode copied = add_node(copy_to_word(address), {added});
  CUgraphNode freed = nullptr;
  EXPECT_EQ(cuGraphAddMemFreeNode(&freed, graph, &copied, 1, address), CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS told{};
  EXPECT_EQ(cuGraphMemAllocNodeGetParams(allocation, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.dptr, address);
  CUdeviceptr freed_address = 0;
  EXPECT_EQ(cuGraphMemFreeNodeGetParams(freed, &freed_address), CUDA_SUCCESS);
  EXPECT_EQ(freed_address, address);
  CUgraphExec executable = instantiate();
  run(executable);
  EXPECT_EQ(value_at(), 7U);
  run(executable);
  EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 4096U);
  EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 4096U);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraphMemory, ForbidsChanges) {
  CUdeviceptr address = 0;
  CUgraphNode allocation = add_allocation(address);
  CUgraphNode empty = add_empty({allocation});
  EXPECT_EQ(cuGraphDestroyNode(empty), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph, &allocation, &empty, nullptr, 1),
            CUDA_ERROR_NOT_SUPPORTED);
  CUgraph other = nullptr;
  EXPECT_EQ(cuGraphClone(&other, graph), CUDA_ERROR_NOT_SUPPORTED);
  CUgraphExec executable = instantiate();
  CUgraphExec another = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&another, graph, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_NE(instantiate(), nullptr);
}

TEST_F(DriverGraphMemory, FreesOnlyWhatANodeAllocated) {
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, graph, nullptr, 0, word), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  CUgraphNode allocation = add_allocation(address);
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, graph, &allocation, 1, address), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, graph, &allocation, 1, address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraphMemory, OutlivesALaunchUntilItIsFreed) {
  CUdeviceptr address = 0;
  CUgraphNode allocation = add_allocation(address);
  add_node(fill(address, 9), {allocation});
  CUgraphExec executable = instantiate();
  run(executable);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(word, address, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(value_at(), 9U);
  run(executable);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(word, address, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraphMemory, IsFreedByTheNextLaunch) {
  CUdeviceptr address = 0;
  add_allocation(address);
  CUgraphExec executable = instantiate(nullptr, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  run(executable);
  run(executable);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(DriverGraphMemory, IsFreedByAnotherGraph) {
  CUdeviceptr address = 0;
  add_allocation(address);
  CUgraph other = nullptr;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, other, nullptr, 0, address), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, graph, nullptr, 0, address), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec allocating = instantiate();
  CUgraphExec freeing = instantiate(other);
  run(allocating);
  run(freeing);
  run(allocating);
  run(freeing);
  EXPECT_EQ(cuGraphLaunch(freeing, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraphMemory, ARefusedLaunchChangesNothing) {
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  CUgraphNode allocation = add_allocation(first);
  add_allocation(second, {allocation});
  CUgraphExec executable = instantiate();
  run(executable);
  EXPECT_EQ(cuMemFree_v2(first), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(first), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(second), CUDA_SUCCESS);
  run(executable);
}

TEST_F(DriverGraphMemory, IsCaptured) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocAsync(&address, 256, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(address, 6, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(word, address, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_SUCCESS);
  CUgraph captured = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream, &captured), CUDA_SUCCESS);
  EXPECT_EQ(nodes_of(captured).size(), 4U);
  CUgraphExec executable = instantiate(captured);
  run(executable);
  run(executable);
  EXPECT_EQ(value_at(), 6U);
}

TEST_F(DriverGraphMemory, CanBeManagedOrTheHosts) {
  for (const CUmemLocationType location :
       {CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST}) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = location == CU_MEM_LOCATION_TYPE_DEVICE
                                         ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                         : CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location.type = location;
    parameters.bytesize = 64;
    CUgraph own = nullptr;
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphCreate(&own, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemAllocNode(&node, own, nullptr, 0, &parameters), CUDA_SUCCESS);
    add_to(own, fill(parameters.dptr, 8), {node});
    run(instantiate(own));
    EXPECT_EQ(*reinterpret_cast<unsigned*>(parameters.dptr), 8U);
    EXPECT_EQ(cuMemFree_v2(parameters.dptr), CUDA_SUCCESS);
  }
}

TEST_F(DriverGraphMemory, HasAttributes) {
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  cuuint64_t value = 0;
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), CUDA_SUCCESS);
  value = 1;
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace cudacore::simulator
