// SPDX-License-Identifier: Apache-2.0
//
// Kernels and a word of memory for graphs. These tests use the driver's functions alone, so they
// can also be built with a real driver.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {

inline constexpr const char* graph_kernels = R"(
.version 8.0
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry add(.param .u64 word, .param .u32 value) {
  .reg .b64 %d;
  .reg .b32 %r<3>;
  ld.param.u64 %d, [word];
  ld.param.u32 %r0, [value];
  ld.global.u32 %r1, [%d];
  add.u32 %r2, %r1, %r0;
  st.global.u32 [%d], %r2;
  ret;
}

.visible .entry times(.param .u64 word, .param .u32 value) {
  .reg .b64 %d;
  .reg .b32 %r<3>;
  ld.param.u64 %d, [word];
  ld.param.u32 %r0, [value];
  ld.global.u32 %r1, [%d];
  mul.lo.u32 %r2, %r1, %r0;
  st.global.u32 [%d], %r2;
  ret;
}

// Sets a condition to the word, less what is given.
.visible .entry decide(.param .u64 word, .param .u32 less, .param .u64 handle) {
  .reg .b64 %d<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %d0, [word];
  ld.param.u32 %r0, [less];
  ld.param.u64 %d1, [handle];
  ld.global.u32 %r1, [%d0];
  sub.u32 %r2, %r1, %r0;
  st.global.u32 [%d0], %r2;
  {
    .param .b64 param0;
    st.param.b64 [param0], %d1;
    .param .b32 param1;
    st.param.b32 [param1], %r2;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

class GraphTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuModuleLoadData(&module, graph_kernels), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&add, module, "add"), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&times, module, "times"), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&decide, module, "decide"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc_v2(&word, words * sizeof(unsigned)), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32_v2(word, 0, words), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    stream = make_stream();
  }

  static constexpr std::size_t words = 64;

  /// The parameters of a launch of `add` or `times`. Valid until the next call.
  CUgraphNodeParams launch(CUfunction function, unsigned value, CUdeviceptr to = 0) {
    kernel_value = value;
    kernel_word = to != 0 ? to : word;
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_KERNEL;
    parameters.kernel.func = function;
    parameters.kernel.gridDimX = parameters.kernel.gridDimY = parameters.kernel.gridDimZ = 1;
    parameters.kernel.blockDimX = parameters.kernel.blockDimY = parameters.kernel.blockDimZ = 1;
    parameters.kernel.kernelParams = kernel_arguments.data();
    return parameters;
  }
  /// The parameters of a launch of `decide`.
  CUgraphNodeParams launch_decide(unsigned less, CUgraphConditionalHandle handle) {
    kernel_handle = handle;
    return launch(decide, less);
  }

  CUgraphNode add_to(CUgraph to, CUgraphNodeParams parameters,
                     const std::vector<CUgraphNode>& after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddNode_v2(&node, to, after.data(), nullptr, after.size(), &parameters),
              CUDA_SUCCESS);
    return node;
  }
  CUgraphNode add_node(CUgraphNodeParams parameters, const std::vector<CUgraphNode>& after = {}) {
    return add_to(graph, parameters, after);
  }
  CUgraphNode add_empty(const std::vector<CUgraphNode>& after = {}) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
    return add_node(parameters, after);
  }

  CUresult launch_on(CUstream to, CUfunction function, unsigned value) {
    CUgraphNodeParams parameters = launch(function, value);
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, to, parameters.kernel.kernelParams,
                          nullptr);
  }

  CUgraphExec instantiate(CUgraph from = nullptr, unsigned flags = 0) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, from != nullptr ? from : graph, flags),
              CUDA_SUCCESS);
    return executable;
  }
  void run(CUgraphExec executable) {
    EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  unsigned value_at(std::size_t index = 0) {
    unsigned value = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&value, word + index * sizeof value, sizeof value), CUDA_SUCCESS);
    return value;
  }
  void set_word(unsigned value) { EXPECT_EQ(cuMemsetD32_v2(word, value, 1), CUDA_SUCCESS); }

  std::vector<CUgraphNode> nodes_of(CUgraph of) {
    std::size_t count = 0;
    EXPECT_EQ(cuGraphGetNodes(of, nullptr, &count), CUDA_SUCCESS);
    std::vector<CUgraphNode> nodes(count);
    EXPECT_EQ(cuGraphGetNodes(of, nodes.data(), &count), CUDA_SUCCESS);
    return nodes;
  }

  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUfunction times = nullptr;
  CUfunction decide = nullptr;
  CUdeviceptr word = 0;
  CUgraph graph = nullptr;
  CUstream stream = nullptr;

 private:
  CUdeviceptr kernel_word = 0;
  unsigned kernel_value = 0;
  CUgraphConditionalHandle kernel_handle = 0;
  std::array<void*, 3> kernel_arguments{&kernel_word, &kernel_value, &kernel_handle};
};

}  // namespace cudacore::simulator
