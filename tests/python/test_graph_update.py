# SPDX-License-Identifier: Apache-2.0
"""Updates of nodes in definitions and in executable graphs."""

import ctypes
import inspect
from collections.abc import Callable

import cudacore
import pytest
from cudacore import CUDAError, Device, Kernel, LaunchConfig, NotSupportedError, Stream
from cudacore.graph import (
    Graph,
    GraphDefinition,
    GraphNode,
)
from graph_kernels import SHAPE, Allocate, add, current, kernels, values

__all__ = ["add", "current", "kernels"]  # fixtures


def run(graph: Graph, stream: Stream) -> None:
    graph.launch(stream)
    stream.sync()


class TestUpdate:
    def test_of_a_definition_changes_later_graphs(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], add: Kernel
    ) -> None:
        buffer, other = pinned(16), pinned(16)
        definition = GraphDefinition()
        node = definition.launch(SHAPE, add, buffer, 1)
        before = definition.instantiate()
        node.update(args=(buffer, 10))
        run(definition.instantiate(), stream)
        assert values(buffer) == [10] * 4
        node.update(config=LaunchConfig(grid=1, block=2))
        run(definition.instantiate(), stream)
        assert values(buffer) == [20, 20, 10, 10]
        node.update(kernel=kernels["scale"], args=(buffer, 2))
        run(definition.instantiate(), stream)
        assert values(buffer) == [40, 40, 10, 10]
        run(before, stream)
        assert values(buffer) == [41, 41, 11, 11]
        copy = definition.memcpy(other, buffer, 16)
        copy.update(size=4)
        fill = definition.memset(buffer, 0, 16)
        fill.update(value=7, width=1)
        assert (copy.size, copy.src, fill.value, fill.width) == (4, buffer.handle, 7, 1)

    def test_of_a_graph_takes_over_the_work(
        self, stream: Stream, pinned: Allocate, add: Kernel
    ) -> None:
        buffer = pinned(16)
        definition = GraphDefinition()
        node = definition.launch(SHAPE, add, buffer, 1)
        graph = definition.instantiate()
        node.update(args=(buffer, 10))
        graph.update(definition)
        run(graph, stream)
        assert values(buffer) == [10] * 4

    def test_of_another_topology_is_refused(
        self, stream: Stream, pinned: Allocate, add: Kernel
    ) -> None:
        buffer = pinned(16)
        definition = GraphDefinition()
        definition.launch(SHAPE, add, buffer, 1)
        graph = definition.instantiate()
        definition.empty()
        with pytest.raises(CUDAError, match="nodes or edges differ"):
            graph.update(definition)
        other = GraphDefinition()
        other.empty()
        with pytest.raises(CUDAError, match=r"kind of a node differs|nodes or edges differ"):
            graph.update(other)
        run(graph, stream)
        assert values(buffer) == [1] * 4
        with pytest.raises(TypeError, match="GraphDefinition"):
            graph.update(3)  # type: ignore[arg-type]

    def test_of_one_node_of_a_graph(self, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        buffer, other = pinned(16), pinned(16)
        definition = GraphDefinition()
        node = definition.launch(SHAPE, add, buffer, 1)
        copy = node.memcpy(other, buffer, 16)
        graph = definition.instantiate()
        graph[node].update(args=(buffer, 10))
        graph[copy].update(size=8)
        run(graph, stream)
        assert (values(buffer), values(other)) == ([10] * 4, [10, 10, 0, 0])
        graph[node].update(config=SHAPE, kernel=add, args=(buffer, 20))
        run(graph, stream)
        assert values(buffer) == [30] * 4
        assert copy.size == 16
        run(definition.instantiate(), stream)
        assert values(other) == [31] * 4

    def test_of_one_node_keeps_what_it_uses(
        self, stream: Stream, device: Device, pinned: Allocate
    ) -> None:
        target = pinned(16)
        definition = GraphDefinition()
        first = device.memory_resource.allocate(16)
        node = definition.memcpy(target, first, 16)
        graph = definition.instantiate()
        source = device.memory_resource.allocate(16)
        source.fill(3, stream=stream)
        graph[node].update(src=source)
        source.close()
        again = device.memory_resource.allocate(16)
        again.fill(9, stream=stream)
        run(graph, stream)
        assert values(target) == [0x03030303] * 4
        graph.close()
        again.close()

    def test_of_a_foreign_node_is_refused(self, pinned: Allocate) -> None:
        buffer = pinned(16)
        definition, other = GraphDefinition(), GraphDefinition()
        definition.memset(buffer, 0, 4)
        graph = definition.instantiate()
        node = other.memset(buffer, 0, 4)
        view = graph[node]
        for change in (lambda: view.update(value=1), view.enable, lambda: view.is_enabled):
            with pytest.raises(ValueError, match="definition that this Graph was made from"):
                change()
        with pytest.raises(TypeError, match="GraphNode"):
            _ = graph[3]  # type: ignore[index]

    def test_of_a_child_graph(self, stream: Stream, pinned: Allocate) -> None:
        buffer = pinned(16)
        inner, other = GraphDefinition(), GraphDefinition()
        inner.memset(buffer, 1, 4)
        other.memset(buffer, 2, 4)
        definition = GraphDefinition()
        node = definition.embed(inner)
        graph = definition.instantiate()
        graph[node].update(other)
        run(graph, stream)
        assert values(buffer)[0] == 0x02020202
        graph[node].update(child=inner)
        run(graph, stream)
        assert values(buffer)[0] == 0x01010101
        for update in (node.update, graph[node].update):
            with pytest.raises(TypeError, match="child must be a GraphDefinition, not int"):
                update(5)
        with pytest.raises(TypeError, match=r"ChildGraphNode\.update\(\) .*'child'"):
            graph[node].update()
        with pytest.raises(NotSupportedError, match="edit its child_graph"):
            node.update(other)

    def test_tells_its_parameters(self, pinned: Allocate) -> None:
        node = GraphDefinition().memset(pinned(16), 0, 4)
        signature = inspect.signature(node.update)
        assert list(signature.parameters)[:2] == ["dst", "value"]
        assert signature.return_annotation == "None"
        with pytest.raises(TypeError, match=r"MemsetNode\.update\(\) got .*'length'"):
            node.update(length=3)  # type: ignore[call-arg]

    def test_callback_of_a_callback_node_is_its_function(self, stream: Stream) -> None:
        calls: list[int] = []
        definition = GraphDefinition()
        node = definition.callback(lambda: calls.append(1))
        assert node.callback is not None
        node.callback()
        assert calls == [1]
        GraphNode.callback(node, lambda: calls.append(2))
        run(definition.instantiate(), stream)
        assert calls == [1, 1, 2]

    def test_of_a_later_node_is_refused(self, stream: Stream, pinned: Allocate) -> None:
        buffer = pinned(16)
        definition = GraphDefinition()
        first = definition.memset(buffer, 0, 4)
        child = definition.embed(GraphDefinition()).child_graph
        graph = definition.instantiate()
        later = definition.memset(buffer, 0, 4)
        for node in (later, child.memset(buffer, 0, 4)):
            view = graph[node]
            with pytest.raises(ValueError, match=r"added .* after this Graph was made.*instan"):
                view.update(value=1)
            with pytest.raises(ValueError, match="after this Graph was made"):
                view.enable()
            with pytest.raises(ValueError, match="after this Graph was made"):
                _ = view.is_enabled
        assert definition.instantiate()[later].is_enabled
        graph[first].update(value=1)
        assert graph[first].is_enabled
        run(graph, stream)
        assert values(buffer)[0] == 0x01010101

    def test_that_does_not_fit_is_refused(self, pinned: Allocate, add: Kernel) -> None:
        buffer = pinned(16)
        definition = GraphDefinition()
        node = definition.launch(SHAPE, add, buffer, 1)
        fill = definition.memset(buffer, 0, 16)
        with pytest.raises(TypeError, match="argument 2"):
            node.update(args=(buffer, "two"))
        with pytest.raises(ValueError, match="give args"):
            node.update(kernel=add)
        with pytest.raises(OverflowError):
            fill.update(value=256)
        with pytest.raises(OverflowError):
            fill.update(width=-1)
        with pytest.raises(TypeError, match="dst"):
            fill.update(dst=object())  # type: ignore[arg-type]
        graph = definition.instantiate()
        with pytest.raises(ValueError, match="is_cooperative"):
            graph[node].update(config=LaunchConfig(grid=1, block=4, is_cooperative=True))
        with pytest.raises(TypeError, match="nothing to update"):
            graph[definition.empty()].update()


class TestCapturedKernels:
    """Nodes of launches that a stream's capture recorded."""

    @pytest.fixture
    def launch_without_cudacore(self) -> Callable[[Kernel, Stream], None]:
        """Launch a kernel without arguments by the driver."""
        driver = ctypes.CDLL(cudacore.driver_library()[1])

        def run(kernel: Kernel, stream: Stream) -> None:
            function = ctypes.c_void_p()
            found = ctypes.c_void_p(int(kernel.handle))
            assert driver.cuKernelGetFunction(ctypes.byref(function), found) == 0
            shape = [ctypes.c_uint(one) for one in (1, 1, 1, 1, 1, 1, 0)]
            queue = ctypes.c_void_p(int(stream.handle))
            assert driver.cuLaunchKernel(function, *shape, queue, None, None) == 0

        return run

    def test_know_their_kernel(self, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        buffer = pinned(16)
        with stream.create_graph_builder() as builder:
            add[1, 4](buffer, 1)
        (node,) = builder.graph_definition.nodes()
        assert node.kernel == add
        assert node.config.block == (4, 1, 1)
        assert "add" in repr(node)

    def test_are_updated(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], add: Kernel
    ) -> None:
        buffer = pinned(16)
        with stream.create_graph_builder() as builder:
            add[1, 4](buffer, 1)
        graph = builder.complete()
        (node,) = builder.graph_definition.nodes()
        graph[node].update(args=(buffer, 10))
        run(graph, stream)
        assert values(buffer) == [10] * 4
        node.update(config=LaunchConfig(grid=1, block=2), args=(buffer, 5))
        run(builder.complete(), stream)
        assert values(buffer) == [15, 15, 10, 10]
        node.update(kernel=kernels["scale"], args=(buffer, 2))
        assert node.kernel == kernels["scale"]
        graph.update(builder)
        run(graph, stream)
        assert values(buffer) == [30, 30, 10, 10]
        node.update(args=(buffer, 3))
        run(builder.complete(), stream)
        assert values(buffer) == [90, 90, 10, 10]

    def test_in_a_child_graph(self, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        buffer = pinned(16)
        with stream.create_graph_builder() as builder:
            add[1, 4](buffer, 1)
        definition = GraphDefinition()
        (node,) = definition.embed(builder.graph_definition).child_graph.nodes()
        assert node.kernel == add
        node.update(args=(buffer, 7))
        run(definition.instantiate(), stream)
        assert values(buffer) == [7] * 4

    def test_know_their_kernels_among_many(
        self, stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], add: Kernel
    ) -> None:
        buffer = pinned(16)
        with stream.create_graph_builder() as builder:
            for _ in range(20):
                add[1, 4](buffer, 1)
                kernels["scale"][1, 4](buffer, 2)
        nodes = builder.graph_definition.nodes()
        assert [node.kernel for node in nodes] == [add, kernels["scale"]] * 20

    def test_need_arguments(self, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        buffer = pinned(16)
        with stream.create_graph_builder() as builder:
            add[1, 4](buffer, 1)
        (node,) = builder.graph_definition.nodes()
        with pytest.raises(ValueError, match="give args too: .* it was captured"):
            node.update(config=SHAPE)
        with pytest.raises(TypeError, match="add: argument 2"):
            node.update(args=(buffer, "two"))

    @pytest.mark.simulator_only(reason="a GPU's driver tells which kernel other code launched")
    def test_of_other_code(
        self,
        stream: Stream,
        pinned: Allocate,
        kernels: dict[str, Kernel],
        launch_without_cudacore: Callable[[Kernel, Stream], None],
    ) -> None:
        with stream.create_graph_builder() as builder:
            launch_without_cudacore(kernels["nothing"], stream)
        (node,) = builder.graph_definition.nodes()
        with pytest.raises(NotSupportedError, match=r"other code launched.*give it a kernel"):
            _ = node.kernel
        with pytest.raises(NotSupportedError, match=r"other code launched.*give it a kernel"):
            node.update(args=())
        buffer = pinned(16)
        node.update(kernel=kernels["add"], args=(buffer, 4), config=SHAPE)
        run(builder.complete(), stream)
        assert values(buffer) == [4] * 4


def test_nodes_are_disabled(stream: Stream, pinned: Allocate, add: Kernel) -> None:
    buffer = pinned(16)
    definition = GraphDefinition()
    node = definition.launch(SHAPE, add, buffer, 1)
    empty = definition.empty()
    graph = definition.instantiate()
    view = graph[node]
    assert view.is_enabled
    view.disable()
    assert not view.is_enabled
    run(graph, stream)
    assert values(buffer) == [0] * 4
    view.enable()
    run(graph, stream)
    assert values(buffer) == [1] * 4
    with pytest.raises(CUDAError, match="only kernels, copies and fills"):
        graph[empty].disable()
