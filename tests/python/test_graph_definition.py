# SPDX-License-Identifier: Apache-2.0
"""Graphs that are built node by node, and the graphs that the driver makes of them."""

import ctypes
import gc
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cudacore import (
    CUDAError,
    Device,
    InvalidValueError,
    Kernel,
    LaunchConfig,
    NotSupportedError,
    Stream,
)
from cudacore.graph import (
    ChildGraphNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    Graph,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    GraphNode,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)
from graph_kernels import SHAPE, Allocate, add, current, is_dropped, kernels, values
from harness import run as run_process

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add", "current", "kernels"]  # fixtures


def run(graph: Graph, stream: Stream) -> None:
    graph.launch(stream)
    stream.sync()


def test_nodes_run_in_order(
    stream: Stream, pinned: Allocate, kernels: dict[str, Kernel], add: Kernel
) -> None:
    buffer = pinned(16)
    definition = GraphDefinition()
    node = definition.memset(buffer, 1, 16).launch(SHAPE, add, buffer, 2)
    node.launch(SHAPE, kernels["scale"], buffer, 3)
    run(definition.instantiate(), stream)
    assert values(buffer) == [(0x01010101 + 2) * 3] * 4


def test_a_graph_is_launched_again(stream: Stream, pinned: Allocate, add: Kernel) -> None:
    buffer = pinned(16)
    definition = GraphDefinition()
    definition.launch(SHAPE, add, buffer, 5)
    with definition.instantiate() as graph:
        for _ in range(10):
            graph.launch(stream)
        with stream:
            graph.launch(None)
        stream.sync()
    assert values(buffer) == [55] * 4
    assert graph.is_closed


def test_every_kind_of_node(device: Device, pinned: Allocate, add: Kernel) -> None:
    buffer, other = pinned(16), pinned(16)
    event = device.create_event()
    inner = GraphDefinition()
    inner.empty()
    definition = GraphDefinition()

    def call() -> None:
        pass

    nodes: list[Any] = [
        definition.empty(),
        definition.launch(SHAPE, add, buffer, 1),
        definition.memcpy(other, buffer, 12),
        definition.memset(buffer, b"\1\2", 2, 3, 4),
        definition.record(event),
        definition.wait(event),
        definition.callback(call),
        definition.embed(inner),
    ]
    kinds = [EmptyNode, KernelNode, MemcpyNode, MemsetNode, EventRecordNode, EventWaitNode]
    assert [type(node) for node in nodes] == [*kinds, HostCallbackNode, ChildGraphNode]
    assert [node.type for node in nodes] == [5, 0, 1, 2, 7, 6, 3, 4]
    assert list(definition.nodes()) == nodes
    assert definition.nodes() == set(nodes)
    assert [type(node) for node in definition.nodes()] == [type(node) for node in nodes]
    _, kernel, copy, fill, record, wait, callback, child = nodes
    assert (kernel.kernel.handle, kernel.config) == (add.handle, SHAPE)
    assert (kernel.grid, kernel.block, kernel.shmem_size) == ((1, 1, 1), (4, 1, 1), 0)
    assert (copy.dst, copy.src, copy.size) == (other.handle, buffer.handle, 12)
    assert (fill.dptr, fill.value, fill.element_size) == (buffer.handle, 0x0201, 2)
    assert (fill.width, fill.height, fill.pitch) == (2, 3, 4)
    assert record.event == wait.event == event
    assert callback.callback is call
    assert [type(node) for node in child.child_graph.nodes()] == [EmptyNode]
    assert child.graph == definition
    assert child.child_graph != definition


def test_memset_takes_the_bytes_of_numpy_scalars(device: Device, stream: Stream) -> None:
    buffer = device.allocate(16, stream=stream)
    buffer.fill(255, stream=stream)
    definition = GraphDefinition()
    definition.memset(buffer, np.int32(42), 2).memset(buffer[8:], np.uint16(7), 2)
    definition.instantiate().launch(stream)
    assert buffer.to_host("i4", stream=stream).tolist() == [42, 42, 7 << 16 | 7, -1]
    with pytest.raises(ValueError, match="1, 2 or 4 bytes, not 8"):
        definition.memset(buffer, np.int64(1), 1)


def test_launch_attributes_are_kept(device: Device, kernels: dict[str, Kernel]) -> None:
    if device.compute_capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    config = LaunchConfig(grid=3, cluster=2, block=32)
    definition = GraphDefinition()
    node = definition.launch(config, kernels["nothing"])
    assert node.config == config
    larger = LaunchConfig(grid=2, cluster=4, block=32, is_cooperative=True)
    node.update(config=larger)
    assert node.config == larger
    cooperative = LaunchConfig(grid=2, block=32, is_cooperative=True)
    with pytest.raises(NotSupportedError, match="cluster"):
        node.update(config=cooperative)
    assert node.config == larger
    assert definition.launch(cooperative, kernels["nothing"]).config == cooperative


class TestEdges:
    def test_are_listed(self) -> None:
        definition = GraphDefinition()
        first = definition.empty()
        second, third = first.join(), first.join()
        last = definition.join(second, third)
        assert definition.edges() == {
            (first, second),
            (first, third),
            (second, last),
            (third, last),
        }
        assert last.pred == {second, third}
        assert first.succ == {second, third}
        assert len(first.pred) == 0

    def test_are_edited(self) -> None:
        definition = GraphDefinition()
        first, second, third = definition.empty(), definition.empty(), definition.empty()
        third.pred.add(first)
        first.succ |= {second}
        assert first.succ == {second, third}
        third.pred = [second]
        assert definition.edges() == {(first, second), (second, third)}
        third.pred.add(second)
        third.pred.discard(first)
        assert len(definition.edges()) == 2
        with pytest.raises(KeyError):
            third.pred.remove(first)
        first.succ = set()
        assert repr(GraphDefinition().edges()) == "set()"
        assert definition.edges() == {(second, third)}

    def test_never_close_a_cycle(self) -> None:
        definition = GraphDefinition()
        first = definition.empty()
        last = first.join().join()
        with pytest.raises(ValueError, match="cycle"):
            first.pred.add(last)
        with pytest.raises(ValueError, match="cycle"):
            first.succ.add(first)
        assert len(definition.edges()) == 2

    def test_of_another_graph_are_refused(self) -> None:
        ours, theirs = GraphDefinition(), GraphDefinition()
        node = ours.empty()
        for edit in (node.pred.add, node.succ.add, ours.join, node.join):
            with pytest.raises(ValueError, match="another graph"):
                edit(theirs.empty())
        assert ours.nodes() == {node}

    def test_take_nodes(self) -> None:
        definition = GraphDefinition()
        for edit in (definition.join, definition.empty().pred.add):
            with pytest.raises(TypeError, match="GraphNode"):
                edit(3)  # type: ignore[arg-type]


class TestDestroy:
    def test_removes_the_node(self) -> None:
        definition = GraphDefinition()
        first = definition.empty()
        second = first.join()
        same = next(iter(first.succ))
        second.destroy()
        second.destroy()
        assert definition.nodes() == {first}
        assert not second.is_valid
        assert not same.is_valid
        assert second.handle is second.type is None
        assert set(second.pred) == set(second.succ) == set()
        assert repr(second) == "<EmptyNode, destroyed>"
        with pytest.raises(ValueError, match="destroyed"):
            second.join()
        with pytest.raises(InvalidValueError, match="destroyed"):
            first.succ.add(second)

    def test_ends_what_the_node_contains(self) -> None:
        inner = GraphDefinition()
        inner.empty()
        definition = GraphDefinition()
        node = definition.embed(inner)
        contained = node.child_graph
        (deep,) = contained.nodes()
        node.destroy()
        assert (contained.is_valid, deep.is_valid) == (False, False)
        with pytest.raises(ValueError, match="contains it was destroyed"):
            contained.empty()
        assert inner.is_valid

    def test_lets_go_of_what_it_used(self) -> None:
        def call() -> None:
            pass

        ended = weakref.ref(call)
        definition = GraphDefinition()
        node = definition.callback(call)
        del call
        gc.collect()
        assert ended() is not None
        node.destroy()
        assert is_dropped(ended)


class TestCallback:
    def test_error_is_reported(self) -> None:
        said = run_process(
            """
            import cudacore
            from cudacore.graph import GraphDefinition
            device = cudacore.Device()
            device.set_current()
            definition = GraphDefinition()
            definition.callback(lambda: 1 // 0)
            definition.instantiate().launch(device.default_stream)
            device.sync()
            print(cudacore.unraisable_errors())
            """
        )
        assert (said.returncode, said.stdout) == (0, "1\n")
        assert "ZeroDivisionError" in said.stderr

    def test_of_ctypes_gets_its_data(self, stream: Stream) -> None:
        seen: list[bytes] = []

        @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        def call(data: int) -> None:
            seen.append(ctypes.string_at(data, 3))

        definition = GraphDefinition()
        node = definition.callback(call, user_data=b"abc")
        assert node.callback is None
        run(definition.instantiate(), stream)
        assert seen == [b"abc"]

    def test_refuses_what_cannot_be_called(self) -> None:
        definition = GraphDefinition()
        with pytest.raises(TypeError, match="callable"):
            definition.callback(3)  # type: ignore[arg-type]
        with pytest.raises(OverflowError, match="user_data must lie in"):
            definition.callback(
                ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None), user_data=-1
            )
        with pytest.raises(ValueError, match="user_data"):
            definition.callback(lambda: None, user_data=b"x")
        with pytest.raises(TypeError, match="CFUNCTYPE"):
            definition.callback(ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 3))
        assert len(definition.nodes()) == 0


class TestWrongWork:
    def test_is_refused_and_nothing_is_added(self, pinned: Allocate, add: Kernel) -> None:
        buffer, closed = pinned(16), pinned(16)
        closed.close()
        definition = GraphDefinition()
        refused: list[tuple[type[Exception], str, Callable[[], object]]] = [
            (ValueError, "closed", lambda: definition.memset(closed, 0, 4)),
            (ValueError, "closed", lambda: definition.launch(SHAPE, add, closed, 4)),
            (ValueError, "dst_owner", lambda: definition.memset(buffer, 0, 4, dst_owner=[])),
            (ValueError, "1, 2 or 4", lambda: definition.memset(buffer, b"abc", 4)),
            (OverflowError, "value", lambda: definition.memset(buffer, -1, 4)),
            (ValueError, "pitch", lambda: definition.memset(buffer, 0, 8, 2, 4)),
            (OverflowError, "size", lambda: definition.memcpy(buffer, buffer, -4)),
            (TypeError, "src", lambda: definition.memcpy(buffer, "x", 4)),  # type: ignore[arg-type]
            (TypeError, "argument 2", lambda: definition.launch(SHAPE, add, buffer, 1.5)),
            (TypeError, "Kernel", lambda: definition.launch(SHAPE, 3)),  # type: ignore[arg-type]
            (
                ValueError,
                "block",
                lambda: definition.launch(LaunchConfig(grid=1, block=4096), add, buffer, 1),
            ),
            (
                CUDAError,
                "programmatic_stream_serialization",
                lambda: definition.launch(
                    LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True),
                    add,
                    buffer,
                    1,
                ),
            ),
            (TypeError, "Event", lambda: definition.record(3)),  # type: ignore[arg-type]
            (TypeError, "GraphDefinition", lambda: definition.embed(3)),  # type: ignore[arg-type]
        ]
        for error, text, call in refused:
            with pytest.raises(error, match=text):
                call()
        assert len(definition.nodes()) == 0

    def test_closed_event(self, device: Device) -> None:
        event = device.create_event()
        event.close()
        with pytest.raises(ValueError, match="closed"):
            GraphDefinition().record(event)

    def test_nodes_and_graphs_are_not_made_directly(self) -> None:
        for kind in (GraphNode, KernelNode, Graph):
            with pytest.raises(TypeError):
                kind()


def test_closed_graph_is_refused(stream: Stream) -> None:
    graph = GraphDefinition().instantiate()
    graph.close()
    graph.close()
    for call in (graph.launch, graph.upload):
        with pytest.raises(ValueError, match="closed"):
            call(stream)
    assert repr(graph) == "<Graph, closed>"


def test_options(stream: Stream, pinned: Allocate) -> None:
    definition = GraphDefinition()
    buffer = pinned(16)
    definition.memset(buffer, 1, 16)
    graph = definition.instantiate(GraphCompleteOptions(upload_stream=stream))
    graph.upload(stream)
    run(graph, stream)
    assert values(buffer) == [0x01010101] * 4
    with pytest.raises(ValueError, match="exclude each other"):
        definition.instantiate(GraphCompleteOptions(auto_free_on_launch=True, device_launch=True))


def test_dot(tmp_path: Path, kernels: dict[str, Kernel]) -> None:
    definition = GraphDefinition()
    definition.launch(SHAPE, kernels["nothing"]).join()
    definition.debug_dot_print(tmp_path / "graph.dot", GraphDebugPrintOptions(verbose=True))
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph")
    assert "->" in text
    with pytest.raises(CUDAError, match="nowhere"):
        definition.debug_dot_print(tmp_path / "nowhere" / "graph.dot")


def test_graphs_are_launched_by_many_threads(
    device: Device, pinned: Allocate, kernels: dict[str, Kernel]
) -> None:
    buffer = pinned(16)
    definition = GraphDefinition()
    definition.launch(SHAPE, kernels["add"], buffer, 1)
    graph = definition.instantiate()

    def work() -> None:
        with Device(0), device.create_stream() as stream:
            for _ in range(50):
                graph.launch(stream)
            stream.sync()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values(buffer) == [200] * 4


def test_names_that_do_not_exist_are_refused() -> None:
    import cudacore.graph

    with pytest.raises(AttributeError, match=r"cudacore\.graph.*Nodes"):
        _ = cudacore.graph.Nodes
