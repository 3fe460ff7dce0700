// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the C++ library, on the simulated device or, with CUDACORE_DRIVER=default, on a GPU.
#include "cudacore/graph_builder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/graph_memory_resource.hpp"
#include "cudacore/object_code.hpp"

namespace cudacore {
namespace {

constexpr std::string_view kernels = R"(
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

// Subtracts 1, and sets a condition to what is left.
.visible .entry count_down(.param .u64 word, .param .u64 handle) {
  .reg .b64 %d<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %d0, [word];
  ld.param.u64 %d1, [handle];
  ld.global.u32 %r0, [%d0];
  sub.u32 %r1, %r0, 1;
  st.global.u32 [%d0], %r1;
  {
    .param .b64 param0;
    st.param.b64 [param0], %d1;
    .param .b32 param1;
    st.param.b32 [param1], %r1;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

class GraphBuilders : public ::testing::Test {
 protected:
  static ObjectCode load() {
    const auto bytes = std::as_bytes(std::span(kernels));
    return ObjectCode::detect({bytes.begin(), bytes.end()});
  }
  [[nodiscard]] unsigned value() const {
    unsigned word = 0;
    buffer.copy_to(std::as_writable_bytes(std::span(&word, 1)), stream);
    stream.sync();
    return word;
  }
  void set(unsigned word) const {
    buffer.fill(word, 4, stream);
    stream.sync();
  }
  void run(const Graph& graph) const {
    graph.launch(stream);
    stream.sync();
  }
  void launch_add(const Stream& on, unsigned amount) const { launch(on, one, add, buffer, amount); }

  const Device device = [] {
    const Device first(0);
    first.set_current();
    return first;
  }();
  const Stream stream = device.create_stream();
  const Buffer buffer = device.allocate(4, stream);
  const ObjectCode code = load();
  const Kernel add = code.get_kernel("add");
  const Kernel count_down = code.get_kernel("count_down");
  const LaunchConfig one{};
};

TEST_F(GraphBuilders, CaptureAStream) {
  set(0);
  const GraphBuilder builder(stream);
  EXPECT_FALSE(builder.is_building());
  builder.begin_building();
  EXPECT_TRUE(builder.is_building());
  launch_add(stream, 2);
  std::atomic<int> calls{0};
  builder.add(GraphWork::callback([&calls] { ++calls; }));
  builder.end_building();
  EXPECT_FALSE(builder.is_building());
  EXPECT_EQ(builder.graph_definition().nodes().size(), 2U);
  EXPECT_EQ(builder.graph_definition().edges().size(), 1U);
  const Graph graph = builder.complete();
  run(graph);
  run(graph);
  EXPECT_EQ(value(), 4U);
  EXPECT_EQ(calls, 2);
}

TEST_F(GraphBuilders, SplitAndJoin) {
  set(1);
  const GraphBuilder builder(stream);
  builder.begin_building();
  const std::vector<GraphBuilder> parts = builder.split(3);
  EXPECT_EQ(parts.front().box(), builder.box());
  EXPECT_TRUE(parts.back().is_join_required());
  for (const GraphBuilder& part : parts) part.add(GraphWork::empty());
  const GraphBuilder joined = GraphBuilder::join(parts);
  EXPECT_EQ(joined.box(), builder.box());
  EXPECT_THROW((void)parts.back().stream(), std::logic_error);
  launch_add(stream, 5);
  builder.end_building();
  EXPECT_EQ(builder.graph_definition().nodes().back().predecessors().size(), 3U);
  run(builder.complete());
  EXPECT_EQ(value(), 6U);
}

TEST_F(GraphBuilders, BranchByConditions) {
  const GraphBuilder builder(stream);
  builder.begin_building();
  const GraphCondition again = builder.create_condition(1);
  const GraphBuilder body = builder.while_loop(again);
  body.begin_building();
  launch(body.stream(), one, count_down, buffer, again.handle());
  body.end_building();
  launch_add(stream, 40);
  builder.end_building();
  const std::vector<GraphNode> nodes = builder.graph_definition().nodes();
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].kind(), GraphNodeKind::conditional);
  EXPECT_EQ(nodes[0].condition(), again);
  EXPECT_EQ(nodes[0].condition_kind(), ConditionKind::while_);
  EXPECT_EQ(nodes[0].branches().front().nodes().size(), 1U);
  const Graph graph = builder.complete();
  set(7);
  run(graph);
  EXPECT_EQ(value(), 40U);
}

TEST_F(GraphBuilders, TheirMemoryIsOfTheGraph) {
  const auto resource = std::make_shared<GraphMemoryResource>(device);
  EXPECT_THROW((void)resource->allocate(4, stream), std::logic_error);
  set(3);
  const GraphBuilder builder(stream);
  builder.begin_building();
  EXPECT_THROW((void)device.allocate(4, stream), NotSupportedError);
  Buffer scratch = resource->allocate(4, stream);
  scratch.copy_from(buffer, stream);
  launch(stream, one, add, scratch, 10U);
  buffer.copy_from(scratch, stream);
  scratch.close();
  builder.end_building();
  EXPECT_EQ(builder.graph_definition().nodes().back().kind(), GraphNodeKind::release);
  const Graph graph = builder.complete();
  run(graph);
  run(graph);
  EXPECT_EQ(value(), 23U);
  EXPECT_GE(resource->attribute(GraphMemoryAttribute::used_mem_high), 4U);
  EXPECT_THROW(resource->reset_high(GraphMemoryAttribute::used_mem_current), std::invalid_argument);
  resource->reset_high(GraphMemoryAttribute::used_mem_high);
  resource->trim();
}

TEST_F(GraphBuilders, DefinitionsAllocateToo) {
  const GraphDefinition definition;
  EXPECT_THROW((void)GraphWork::allocate({}), InvalidValueError);
  const GraphNode allocated = definition.add(GraphWork::allocate({.size = 64}));
  const GraphAllocation told = allocated.allocation();
  EXPECT_EQ(told.size, 64U);
  EXPECT_EQ(told.device, 0);
  EXPECT_NE(told.address, 0U);
  const GraphNode filled =
      definition.add(GraphWork::fill(told.address, 9, 4, 1), std::array{allocated});
  const GraphNode copied =
      definition.add(GraphWork::copy(buffer.handle(), told.address, 4), std::array{filled});
  const GraphNode freed = definition.add(GraphWork::deallocate(told.address), std::array{copied});
  EXPECT_EQ(freed.released(), told.address);
  EXPECT_THROW((void)freed.allocation(), std::invalid_argument);
  run(definition.instantiate());
  EXPECT_EQ(value(), 9U);
}

TEST_F(GraphBuilders, ConditionsAreOfOneGraph) {
  const GraphDefinition mine;
  const GraphDefinition other;
  const GraphCondition condition = other.create_condition();
  EXPECT_THROW(mine.add(GraphWork::conditional(condition, ConditionKind::if_, 1)),
               InvalidValueError);
  EXPECT_THROW((void)GraphWork::conditional(condition, ConditionKind::while_, 2),
               InvalidValueError);
  EXPECT_TRUE(mine.nodes().empty());
}

TEST_F(GraphBuilders, EndOnce) {
  const GraphBuilder builder(stream);
  EXPECT_EQ(builder.state(), "not begun");
  EXPECT_THROW((void)builder.capturing_stream(), std::logic_error);
  EXPECT_THROW(builder.end_building(), std::logic_error);
  EXPECT_THROW((void)builder.graph_definition(), std::logic_error);
  builder.begin_building();
  EXPECT_EQ(builder.capturing_stream(), stream);
  EXPECT_THROW(builder.begin_building(), std::logic_error);
  EXPECT_THROW(GraphBuilder(stream).begin_building(), std::logic_error);
  EXPECT_THROW((void)builder.graph_definition(), std::logic_error);
  builder.end_building();
  EXPECT_THROW(builder.begin_building(), std::logic_error);
  EXPECT_THROW((void)builder.split(2), std::logic_error);
  builder.close();
  EXPECT_THROW((void)builder.stream(), std::logic_error);
}

TEST_F(GraphBuilders, SayWhichCallInvalidatedTheCapture) {
  const GraphBuilder builder(stream);
  builder.begin_building();
  EXPECT_THROW((void)stream.is_done(), Error);
  EXPECT_THROW((void)builder.is_building(), std::logic_error);
  try {
    builder.end_building();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::strstr(error.what(), "cuStreamQuery"), nullptr) << error.what();
  }
  stream.sync();
}

TEST_F(GraphBuilders, EndInTheirThread) {
  const GraphBuilder builder(stream);
  builder.begin_building(CaptureMode::thread_local_);
  std::thread([&] {
    device.set_current();
    EXPECT_THROW(builder.end_building(), Error);
  }).join();
  stream.sync();
}

TEST_F(GraphBuilders, DropWhatIsNotEnded) {
  {
    const GraphBuilder builder(stream);
    builder.begin_building();
    launch_add(stream, 1);
    (void)builder.split(2);
  }
  stream.sync();
}

}  // namespace
}  // namespace cudacore
