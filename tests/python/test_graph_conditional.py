# SPDX-License-Identifier: Apache-2.0
"""Conditions of graphs, and nodes that run their branches by them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cudacore import Buffer, Device, Kernel, LaunchConfig, NotSupportedError, Stream
from cudacore.graph import (
    ConditionalNode,
    GraphCondition,
    GraphDefinition,
    IfElseNode,
    IfNode,
    SwitchNode,
    WhileNode,
)
from cudacore.typing import GraphConditionalType
from harness import build

SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value);
__global__ void add(int* p, int v) { *p += v; }
__global__ void decide(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, value);
}
__global__ void count_down(cudaGraphConditionalHandle handle, int* p) {
  cudaGraphSetConditional(handle, --*p > 0);
}
"""
Allocate = Callable[[int], Buffer]
ONE = LaunchConfig(grid=1, block=1)


@pytest.fixture(scope="module")
def kernels(device: Device) -> dict[str, Kernel]:
    code = build(SOURCE)
    return {name: code.get_kernel(name) for name in ("add", "decide", "count_down")}


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def value(buffer: Buffer, index: int = 0) -> int:
    return memoryview(buffer).cast("B").cast("i")[index]


class TestCapture:
    @pytest.mark.parametrize(("given", "expected"), [(0, 1000), (1, 1010), (7, 1010)])
    def test_if_then(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], given: int,
        expected: int,
    ) -> None:  # fmt: skip
        buffer = pinned(4)
        with stream.create_graph_builder() as builder:
            condition = builder.create_condition()
            kernels["decide"][1, 1](condition, given)
            with builder.if_then(condition):
                kernels["add"][1, 1](buffer, 10)
            kernels["add"][1, 1](buffer, 1000)
        builder.complete().launch(stream)
        stream.sync()
        assert value(buffer) == expected
        types = [type(node) for node in builder.graph_definition.nodes()]
        assert types[1] is IfNode

    @pytest.mark.parametrize(("given", "expected"), [(0, 5), (1, 3)])
    def test_if_else(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], given: int,
        expected: int,
    ) -> None:  # fmt: skip
        buffer = pinned(4)
        with stream.create_graph_builder() as builder:
            condition = builder.create_condition(given)
            then, otherwise = builder.if_else(condition)
            with then:
                kernels["add"][1, 1](buffer, 3)
            # Without a capture.
            otherwise.graph_definition.launch(ONE, kernels["add"], buffer, 5)
        builder.complete().launch(stream)
        stream.sync()
        assert value(buffer) == expected

    def test_while_loop(self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel]) -> None:
        buffer, total = pinned(4), pinned(4)
        with stream.create_graph_builder() as builder:
            condition = builder.create_condition(default_value=1)
            with builder.while_loop(condition) as body:
                kernels["add"][1, 1](total, 2)
                left, right = body.split(2)
                kernels["add"][1, 1, right](total, 0)
                body.join(left, right)
                kernels["count_down"][1, 1](condition, buffer)
        graph = builder.complete()
        for count in (5, 1):
            memoryview(buffer).cast("B").cast("i")[0] = count
            graph.launch(stream)
            stream.sync()
        assert (value(buffer), value(total)) == (0, 12)

    @pytest.mark.parametrize("given", range(4))
    def test_switch(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], given: int
    ) -> None:
        buffer = pinned(4)
        with stream.create_graph_builder() as builder:
            condition = builder.create_condition()
            kernels["decide"][1, 1](condition, given)
            for i, branch in enumerate(builder.switch(condition, 3)):
                with branch:
                    kernels["add"][1, 1](buffer, 10**i)
        builder.complete().launch(stream)
        stream.sync()
        assert value(buffer) == (1, 10, 100, 0)[given]

    def test_branches_in_branches(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel]
    ) -> None:
        buffer = pinned(4)
        with stream.create_graph_builder() as builder:
            outer = builder.create_condition(1)
            with builder.if_then(outer) as body:
                inner = body.create_condition(1)
                with body.if_then(inner):
                    kernels["add"][1, 1](buffer, 4)
                kernels["add"][1, 1](buffer, 30)
        builder.complete().launch(stream)
        stream.sync()
        assert value(buffer) == 34


class TestDefinition:
    def test_nodes_say_what_they_are(self) -> None:
        definition = GraphDefinition()
        conditions = [definition.create_condition() for _ in range(4)]
        assert len({*conditions}) == 4
        nodes = [
            definition.if_then(conditions[0]),
            definition.if_else(conditions[1]),
            definition.while_loop(conditions[2]),
            definition.switch(conditions[3], 5),
        ]
        classes = [IfNode, IfElseNode, WhileNode, SwitchNode]
        assert [type(node) for node in definition.nodes()] == classes
        assert [node.condition for node in nodes] == conditions
        kinds = GraphConditionalType
        assert [node.cond_type for node in nodes] == [kinds.IF, kinds.IF, kinds.WHILE, kinds.SWITCH]
        assert [len(node.branches) for node in nodes] == [1, 2, 1, 5]
        assert nodes[0].then == nodes[0].branches[0]
        assert (nodes[1].then, nodes[1].else_) == nodes[1].branches
        assert nodes[2].body == nodes[2].branches[0]
        assert all(isinstance(node, ConditionalNode) for node in nodes)
        branch = nodes[0].then
        nodes[0].destroy()
        assert not branch.is_valid

    def test_runs(self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel]) -> None:
        buffer, total = pinned(4), pinned(4)
        memoryview(buffer).cast("B").cast("i")[0] = 3
        definition = GraphDefinition()
        condition = definition.create_condition(1)
        loop = definition.while_loop(condition)
        counted = loop.body.launch(ONE, kernels["count_down"], condition, buffer)
        counted.launch(ONE, kernels["add"], total, 7)
        loop.launch(ONE, kernels["add"], total, 100)
        definition.instantiate().launch(stream)
        stream.sync()
        assert value(total) == 121

    def test_a_condition_keeps_no_graph(self, kernels: dict[str, Kernel]) -> None:
        definition = GraphDefinition()
        condition = definition.create_condition()
        definition.launch(ONE, kernels["decide"], condition, 1)
        assert int.__index__(condition.__index__()) == condition.handle
        assert hash(condition) == hash(condition)
        assert repr(condition).startswith("<GraphCondition")


class TestWrongUse:
    def test_conditions_of_other_graphs(self) -> None:
        other = GraphDefinition()
        condition = other.create_condition()
        definition = GraphDefinition()
        with pytest.raises(ValueError, match="of another graph"):
            definition.if_then(condition)
        del other
        with pytest.raises(ValueError, match="of another graph"):
            definition.if_then(condition)
        assert len(definition.nodes()) == 0

    def test_arguments(self, device: Device, kernels: dict[str, Kernel]) -> None:
        definition = GraphDefinition()
        condition = definition.create_condition()
        with pytest.raises(TypeError, match="GraphCondition"):
            definition.if_then(1)  # type: ignore[arg-type]
        for count in (-1, 0, 2**40, 2**70):
            with pytest.raises(ValueError, match=rf"count must lie in 1 .* not {count}"):
                definition.switch(condition, count)
        with pytest.raises(TypeError, match="count must be an int, not float"):
            definition.switch(condition, 1.5)  # type: ignore[arg-type]
        with pytest.raises(OverflowError, match="default_value"):
            definition.create_condition(2**32)
        assert definition.create_condition(True) != definition.create_condition(default_value=False)
        with pytest.raises(TypeError, match="create_condition"):
            GraphCondition()
        with pytest.raises(TypeError, match="float"):
            definition.create_condition(1.5)  # type: ignore[arg-type]
        builder = device.create_graph_builder()
        with pytest.raises(RuntimeError, match="not building"):
            builder.create_condition()
        with builder, pytest.raises(ValueError, match="of another graph"):
            builder.if_then(condition)

    @pytest.mark.parametrize("runs", [True, False])
    def test_kernels_without_a_mangled_name_take_them(self, pinned: Allocate, runs: bool) -> None:
        source = """
            extern "C" __device__ __cudart_builtin__ void cudaGraphSetConditional(
                cudaGraphConditionalHandle handle, unsigned int value);
            extern "C" __global__ void stop(cudaGraphConditionalHandle handle, int* p) {
              *p += 1;
              cudaGraphSetConditional(handle, 0);
            }
        """
        count = pinned(4)
        definition = GraphDefinition()
        condition = definition.create_condition(runs)
        loop = definition.while_loop(condition)
        loop.body.launch(ONE, build(source).get_kernel("stop"), condition, count)
        stream = Device().create_stream()
        definition.instantiate().launch(stream)
        stream.sync()
        assert memoryview(count).cast("i")[0] == int(runs)

    def test_conditions_have_no_truth(self, kernels: dict[str, Kernel], pinned: Allocate) -> None:
        definition = GraphDefinition()
        condition = definition.create_condition(1)
        with pytest.raises(TypeError, match=r"only the device knows a condition: builder.if_then"):
            bool(condition)
        with pytest.raises(TypeError, match="parameter as cudaGraphConditionalHandle"):
            definition.launch(ONE, kernels["add"], pinned(4), condition)
        with pytest.raises(TypeError, match="cudaGraphConditionalHandle"):
            definition.launch(ONE, kernels["add"], condition, 1)

    @pytest.mark.simulator_only(reason="how deep a GPU's driver nests graphs is not documented")
    def test_branches_that_are_nested_too_deep(self, tmp_path: Path) -> None:
        definition = GraphDefinition()
        child = GraphDefinition()
        innermost = definition
        for _ in range(999):
            innermost = innermost.if_then(definition.create_condition(1)).then
        with pytest.raises(NotSupportedError, match="at most 1000 levels deep"):
            innermost.if_then(definition.create_condition(1))
        with pytest.raises(NotSupportedError, match="at most 1000 levels deep"):
            innermost.embed(child)
        definition.debug_dot_print(tmp_path / "graph.dot")
        assert (tmp_path / "graph.dot").read_text().count("subgraph") == 1000

    def test_callbacks_cannot_be_in_branches(self) -> None:
        definition = GraphDefinition()
        node = definition.if_then(definition.create_condition(1))
        node.then.callback(print)
        with pytest.raises(ValueError, match="host callback"):
            definition.instantiate()

    def test_conditions_without_a_node(self) -> None:
        definition = GraphDefinition()
        definition.create_condition()
        with pytest.raises(ValueError, match=r"condition that no node uses: give .*if_then"):
            definition.instantiate()

    def test_conditions_of_two_nodes(self) -> None:
        definition = GraphDefinition()
        condition = definition.create_condition(1)
        definition.if_then(condition)
        with pytest.raises(ValueError, match=r"condition another node may have: .*create_cond"):
            definition.while_loop(condition)
